//! A sample of a log: the same one for each number of events.

use std::fmt::Write;

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

const NAMES: [&str; 6] = ["Ada Miller", "Bo Lindqvist", "Chen Wei", "Dana Okafor", "Eli Novak", "Fay O'Brien"];
const STREETS: [&str; 5] = ["12 Harbour Street", "7 Mill Lane", "301 Market Square", "88 Station Road", "5 Hill"];
const CITIES: [&str; 4] = ["Rotterdam", "Oslo", "Porto", "Gent"];

/// Returns a log of `count` events.
pub fn sample(count: usize) -> String {
    let mut numbers = Numbers(7);
    let mut text = String::new();
    for event in 0..count {
        let (user, item) = (numbers.below(9_000), numbers.below(40_000));
        match numbers.below(20) {
            0..15 => writeln!(text, "view; {user}; {item}"),
            15..19 => writeln!(text, "add; {user}; {item}; {}", 1 + numbers.below(3)),
            _ => {
                let items: Vec<String> = (0..1 + numbers.below(5))
                    .map(|_| {
                        format!("{}x{}x{}", numbers.below(40_000), 1 + numbers.below(3), 99 + numbers.below(9_900))
                    })
                    .collect();
                let mut pick = |all: &[&'static str]| all[numbers.below(all.len() as u64) as usize];
                let (name, street, city) = (pick(&NAMES), pick(&STREETS), pick(&CITIES));
                let gift = if event % 40 == 0 { format!("; {name}/{street}/{city}; With love") } else { String::new() };
                writeln!(text, "order; {user}; N-{event}; {}; {name}; {street}; {city}{gift}", items.join(","))
            }
        }
        .expect("a string can be written");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::parse;

    #[test]
    fn samples_are_logs() {
        let text = sample(500);
        assert_eq!(text.lines().count(), 500);
        assert!(text.lines().all(|line| parse(line).is_ok()));
        assert_eq!(text, sample(500));
    }
}
