//! The first point of a run from which on all are harmless. What holds for a beginning holds for every longer one, so few points are asked about.

use encode::Result;
use std::ops::Range;

/// By bisection.
pub fn first_harmless(points: &[usize], is_harmless: &mut dyn FnMut(usize) -> Result<bool>) -> Result<usize> {
    let (mut low, mut high) = (0, points.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match is_harmless(points[middle])? {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Ok(high)
}

/// About where it is, from the last point back, each time twice as far: those before the range are harmful, those behind it harmless.
pub fn from_the_end(
    points: &[usize],
    is_harmless: &mut dyn FnMut(usize) -> Result<bool>,
) -> Result<Range<usize>> {
    let (mut high, mut by) = (points.len(), 1);
    while high > 0 {
        let at = points.len().saturating_sub(by);
        if !is_harmless(points[at])? {
            return Ok(at + 1..high);
        }
        (high, by) = (at, by * 2);
    }
    Ok(0..0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_find_the_first_harmless_point() {
        for count in 0..20 {
            let points: Vec<usize> = (0..count).map(|n| n * 3).collect();
            for first in 0..=count {
                let mut is_harmless = |point: usize| Ok(point >= first * 3);
                assert_eq!(first_harmless(&points, &mut is_harmless), Ok(first));
                let range = from_the_end(&points, &mut is_harmless).expect("it is found");
                assert!(range.start <= first && first <= range.end, "{first} of {count}: {range:?}");
            }
        }
    }
}
