//! The lines of the log.

use std::fmt;

/// What happened in the shop.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A page was looked at.
    View { user: u32, item: u32 },
    /// An item was put into a basket.
    Add { user: u32, item: u32, count: u16 },
    /// A basket was paid.
    Order(Order),
}

/// A paid basket.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    pub user: u32,
    pub number: String,
    pub items: Vec<Item>,
    pub address: Address,
    pub gift: Option<Gift>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item {
    pub item: u32,
    pub count: u16,
    pub cents: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Address {
    pub name: String,
    pub street: String,
    pub city: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gift {
    pub to: Address,
    pub text: String,
}

/// A line that is no event.
#[derive(Debug, PartialEq)]
pub struct ParseError(String);

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is no event", self.0)
    }
}

/// Parses a line: fields with a `;` between them.
pub fn parse(line: &str) -> Result<Event, ParseError> {
    let fields: Vec<String> = line.split(';').map(|field| field.trim().to_string()).collect();
    let wrong = || ParseError(line.to_string());
    let number = |index: usize| fields.get(index).and_then(|text| text.parse().ok()).ok_or_else(wrong);
    match fields[0].as_str() {
        "view" => Ok(Event::View { user: number(1)?, item: number(2)? }),
        "add" => Ok(Event::Add { user: number(1)?, item: number(2)?, count: number(3)? as u16 }),
        "order" if fields.len() >= 7 => {
            let mut items = Vec::new();
            for item in fields[3].split(',') {
                let numbers: Vec<u64> = item.split('x').filter_map(|text| text.parse().ok()).collect();
                let [item, count, cents] = numbers[..] else { return Err(wrong()) };
                items.push(Item { item: item as u32, count: count as u16, cents });
            }
            let gift = fields.get(8).map(|text| Gift { to: address(&fields[7]), text: text.clone() });
            Ok(Event::Order(Order {
                user: number(1)?,
                number: fields[2].clone(),
                items,
                address: Address { name: fields[4].clone(), street: fields[5].clone(), city: fields[6].clone() },
                gift,
            }))
        }
        _ => Err(wrong()),
    }
}

fn address(text: &str) -> Address {
    let mut parts = text.split('/').map(str::to_string);
    let mut next = || parts.next().unwrap_or_default();
    Address { name: next(), street: next(), city: next() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_parsed() {
        assert_eq!(parse("view; 3; 77"), Ok(Event::View { user: 3, item: 77 }));
        assert_eq!(parse("add; 3; 77; 2"), Ok(Event::Add { user: 3, item: 77, count: 2 }));
        let Ok(Event::Order(order)) = parse("order; 3; N-1; 77x2x150,5x1x999; Ada; 1 Loop St; Rome") else {
            panic!("no order")
        };
        assert_eq!(order.items.len(), 2);
        assert_eq!(order.items[1], Item { item: 5, count: 1, cents: 999 });
        assert_eq!(order.address.city, "Rome");
        assert_eq!(order.gift, None);
    }

    #[test]
    fn gifts_have_an_address() {
        let line = "order; 3; N-1; 77x2x150; Ada; 1 Loop St; Rome; Bob/2 Main St/Oslo; Happy day";
        let Ok(Event::Order(Order { gift: Some(gift), .. })) = parse(line) else { panic!("no gift") };
        assert_eq!((gift.to.city.as_str(), gift.text.as_str()), ("Oslo", "Happy day"));
    }

    #[test]
    fn other_lines_are_errors() {
        for line in ["", "view", "view; x; 1", "order; 1; N-1; 7; a; b; c"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
