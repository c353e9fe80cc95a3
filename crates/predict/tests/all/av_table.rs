//! AV Table 1: the pattern of its counts. `make bench-predict` prints the whole table with times.

#[allow(dead_code, reason = "only the example looks for programs by name")]
#[path = "../../examples/bench/families.rs"]
mod families;
#[allow(dead_code, reason = "the test needs no z3 and prints nothing")]
#[path = "../../examples/bench/table.rs"]
mod table;

/// regions, orig-pavs, hb-pavs, sym-avs, w/o data.
fn counts(row: &families::Row) -> [u64; 5] {
    let machine = table::machine(row);
    let prediction = table::predict(&machine, &table::record(&machine, row));
    let s = prediction.statistics;
    assert_eq!(s.unknown, 0, "{}", row.name);
    [s.transactions, s.potential, s.after_happens_before, s.feasible, s.without_data]
}

#[test]
fn the_pattern_of_av_table_1_comes_out() {
    for row in families::table() {
        let found = counts(&row);
        let expected = match row.name.rsplit_once('-') {
            None => match &row.name[..] {
                "atom001" => [1, 8, 2, 1, 1],
                "atom001a" => [1, 8, 2, 0, 1],
                "atom002" => [1, 102, 34, 33, 33],
                _ => [1, 102, 34, 0, 33],
            },
            Some((family, threads)) => {
                let n: u64 = threads.parse().expect("a number of threads");
                let feasible = match family {
                    "bank-av" => 4 * n,
                    "bank-sav" => 2 * n,
                    _ => 0,
                };
                [n, 12 * n, 4 * n, feasible, 4 * n]
            }
        };
        assert_eq!(found, expected, "{}", row.name);
    }
}
