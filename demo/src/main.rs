//! Reads the log of a shop, and prints what was bought: `shop-log [EVENTS]`.

mod event;
mod log;
mod report;

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    let count = match env::args().nth(1).map(|text| text.parse()) {
        None => 100_000,
        Some(Ok(count)) => count,
        Some(Err(_)) => {
            eprintln!("usage: shop-log [EVENTS]");
            return ExitCode::from(2);
        }
    };
    let text = log::sample(count);
    let mut shop = report::Shop::default();
    for (number, line) in text.lines().enumerate() {
        match event::parse(line) {
            Ok(event) => shop.add(event),
            Err(error) => {
                eprintln!("line {}: {error}", number + 1);
                return ExitCode::FAILURE;
            }
        }
    }
    print!("{}", shop.summary());
    ExitCode::SUCCESS
}
