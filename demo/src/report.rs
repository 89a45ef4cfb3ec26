//! What was bought.

use crate::event::Event;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// All events by user.
#[derive(Default)]
pub struct Shop {
    events: HashMap<u32, Vec<Event>>,
}

impl Shop {
    /// Adds an event to those of its user.
    pub fn add(&mut self, event: Event) {
        let user = match &event {
            Event::View { user, .. } | Event::Add { user, .. } => *user,
            Event::Order(order) => order.user,
        };
        self.events.entry(user).or_default().push(event);
    }

    /// Returns what was bought, by city.
    pub fn by_city(&self) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::new();
        for event in self.events.values().flatten() {
            if let Event::Order(order) = event {
                let to = match &order.gift {
                    Some(gift) => &gift.to,
                    None => &order.address,
                };
                let cents: u64 = order.items.iter().map(|item| item.cents * u64::from(item.count)).sum();
                *all.entry(to.city.clone()).or_insert(0) += cents;
            }
        }
        all
    }

    /// Returns the number of events that were not an order.
    pub fn looked(&self) -> usize {
        self.events.values().flatten().filter(|event| !matches!(event, Event::Order(_))).count()
    }

    /// Returns a summary as text.
    pub fn summary(&self) -> String {
        let mut text = format!("{} users looked {} times\n", self.events.len(), self.looked());
        for (city, cents) in self.by_city() {
            writeln!(text, "{city:12} {:>12}.{:02}", cents / 100, cents % 100).expect("a string can be written");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::parse;

    #[test]
    fn gifts_count_for_their_city() {
        let mut shop = Shop::default();
        for line in [
            "view; 1; 2",
            "order; 1; N-1; 77x2x150; Ada; 1 Loop St; Rome",
            "order; 2; N-2; 5x1x1000; Ada; 1 Loop St; Rome; Bob/2 Main St/Oslo; Happy day",
        ] {
            shop.add(parse(line).unwrap());
        }
        assert_eq!(shop.by_city(), BTreeMap::from([("Oslo".to_string(), 1000), ("Rome".to_string(), 300)]));
        assert_eq!(shop.looked(), 1);
        assert!(shop.summary().starts_with("2 users looked 1 times\nOslo"));
    }
}
