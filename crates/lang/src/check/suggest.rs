//! Names that are meant when a name is not known.

/// The candidate most like `name`, if one is like enough.
pub(super) fn similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    candidates
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *candidate != name)
        .min_by_key(|(distance, candidate)| (*distance, *candidate))
        .map(|(_, candidate)| candidate)
}

/// How many letters must be changed, put in, left out or swapped with the next (optimal string alignment);
/// a change of case counts nothing by itself but keeps the names apart.
fn distance(a: &str, b: &str) -> usize {
    let fold = |s: &str| -> Vec<char> { s.chars().take(64).flat_map(char::to_lowercase).collect() };
    let (a, b) = (fold(a), fold(b));
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (rows[i - 1][j - 1] + change).min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        let names = ["balance", "flag", "x"];
        assert_eq!(similar("balanec", names.into_iter()), Some("balance"));
        assert_eq!(similar("Flag", names.into_iter()), Some("flag"));
        assert_eq!(similar("counter", names.into_iter()), None);
    }
}
