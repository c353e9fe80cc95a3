//! Columns that fit a width.
//!
//! Each column is as wide as its content. If all together are too wide, the room is dealt out evenly: narrow columns keep
//! what they need, the others share the rest and clip with `…`. With so many threads that nothing would be
//! readable, the threads share one column and their names stand in another.

/// Below this, columns side by side are not worth it.
const LEAST_COLUMN: usize = 12;

/// Between columns.
const GAP: usize = 2;

/// One event.
pub(super) struct Row {
    pub(super) number: u64,
    /// Where in the source; empty if not known.
    pub(super) line: String,
    /// Index of its thread.
    pub(super) column: usize,
    pub(super) text: String,
    /// Whether an arrow points at it.
    pub(super) marked: bool,
    /// Whether something before it is left out.
    pub(super) after_gap: bool,
}

impl Row {
    /// What stands before the row.
    fn label(&self) -> String {
        if self.marked { format!("▶{}", self.number) } else { self.number.to_string() }
    }
}

/// The events to show and the names of their threads.
#[derive(Default)]
pub(super) struct Table {
    pub(super) threads: Vec<String>,
    pub(super) rows: Vec<Row>,
}

impl Table {
    /// Appends the table, no line wider than `width` if that is possible at all.
    pub(super) fn render(&self, width: usize, lines: &mut Vec<String>) {
        if self.rows.is_empty() {
            lines.push("no events".into());
            return;
        }
        let number = self.rows.iter().map(|row| length(&row.label())).max().unwrap_or(1).max(1);
        let source = self.rows.iter().map(|row| length(&row.line)).max().unwrap_or(0);
        let source = if source == 0 { 0 } else { source.max("line".len()) };
        let margin = Margin { number, source };
        let room = width.saturating_sub(margin.width());

        let mut natural: Vec<usize> = self.threads.iter().map(|name| length(name)).collect();
        for row in &self.rows {
            natural[row.column] = natural[row.column].max(length(&row.text));
        }
        let gaps = GAP * (natural.len() - 1);
        let widths = fit(&natural, room.saturating_sub(gaps));
        let crowded =
            widths.iter().zip(&natural).any(|(width, natural)| width < natural && *width < LEAST_COLUMN);
        if crowded && natural.len() > 1 {
            self.listed(&margin, room, lines);
        } else {
            self.side_by_side(&margin, &widths, lines);
        }
    }

    fn side_by_side(&self, margin: &Margin, widths: &[usize], lines: &mut Vec<String>) {
        let mut head = margin.head();
        for (name, width) in self.threads.iter().zip(widths) {
            head.push_str(&pad(name, *width));
            head.push_str(&" ".repeat(GAP));
        }
        lines.push(head.trim_end().into());
        let total = widths.iter().sum::<usize>() + GAP * (widths.len() - 1);
        let starts: Vec<usize> = widths
            .iter()
            .scan(0, |start, width| {
                let at = *start;
                *start += width + GAP;
                Some(at)
            })
            .collect();
        self.each(|row, changed| {
            if changed {
                lines.push(margin.rule(total));
            }
            if row.after_gap {
                lines.push(margin.text("…", ""));
            }
            let indent = " ".repeat(starts[row.column]);
            lines.push(format!("{}{indent}{}", margin.of(row), clip(&row.text, widths[row.column])));
        });
    }

    fn listed(&self, margin: &Margin, room: usize, lines: &mut Vec<String>) {
        let natural = [
            self.threads.iter().map(|name| length(name)).max().unwrap_or(0).max("thread".len()),
            self.rows.iter().map(|row| length(&row.text)).max().unwrap_or(0),
        ];
        let widths = fit(&natural, room.saturating_sub(GAP));
        let gap = " ".repeat(GAP);
        lines.push(format!("{}{}{gap}event", margin.head(), pad("thread", widths[0])));
        self.each(|row, changed| {
            if changed {
                lines.push(margin.rule(widths[0] + GAP + widths[1]));
            }
            if row.after_gap {
                lines.push(margin.text("…", ""));
            }
            let thread = pad(&self.threads[row.column], widths[0]);
            lines.push(format!("{}{thread}{gap}{}", margin.of(row), clip(&row.text, widths[1])));
        });
    }

    /// Calls `each` with every row and whether another thread ran before it.
    fn each(&self, mut each: impl FnMut(&Row, bool)) {
        let mut last = None;
        for row in &self.rows {
            let before = last.replace(row.column);
            each(row, before.is_some_and(|before| before != row.column));
        }
    }
}

/// What stands left of the threads: the row's number and its source line.
struct Margin {
    number: usize,
    /// 0 if no line is known.
    source: usize,
}

impl Margin {
    fn width(&self) -> usize {
        self.number + GAP + if self.source == 0 { 0 } else { self.source + GAP }
    }

    fn head(&self) -> String {
        self.text("#", "line")
    }

    fn of(&self, row: &Row) -> String {
        self.text(&row.label(), &row.line)
    }

    fn text(&self, number: &str, line: &str) -> String {
        let gap = " ".repeat(GAP);
        match self.source {
            0 => format!("{number:>0$}{gap}", self.number),
            source => format!("{number:>0$}{gap}{line:>source$}{gap}", self.number),
        }
    }

    fn rule(&self, length: usize) -> String {
        format!("{}{}", " ".repeat(self.width()), "╌".repeat(length))
    }
}

/// Widths of at most what is natural and, if that is possible, of `room` together; at least 1 each.
fn fit(natural: &[usize], room: usize) -> Vec<usize> {
    // From the narrowest up: each takes what it needs, or an even share of what is left.
    let mut order: Vec<usize> = (0..natural.len()).collect();
    order.sort_by_key(|&column| natural[column]);
    let mut widths = vec![0; natural.len()];
    let mut left = room;
    for (done, column) in order.into_iter().enumerate() {
        let share = left / (natural.len() - done);
        widths[column] = natural[column].min(share).max(1);
        left = left.saturating_sub(widths[column]);
    }
    widths
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn clip(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let mut clipped: String = text.chars().take(width.saturating_sub(1)).collect();
    clipped.push('…');
    clipped
}

/// Clipped, and filled with spaces.
fn pad(text: &str, width: usize) -> String {
    let mut text = clip(text, width);
    text.push_str(&" ".repeat(width.saturating_sub(length(&text))));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_columns_keep_what_they_need() {
        assert_eq!(fit(&[5, 50, 50], 65), [5, 30, 30]);
        assert_eq!(fit(&[50, 5, 50], 65), [30, 5, 30]);
        assert_eq!(fit(&[5, 6], 65), [5, 6]);
        assert_eq!(fit(&[5, 6], 0), [1, 1]);
        assert_eq!(clip("abcdef", 4), "abc…");
    }
}
