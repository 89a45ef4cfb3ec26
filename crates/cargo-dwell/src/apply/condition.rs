//! The condition of `--keep-if`.

use dwell_output::units;

/// The condition of `--keep-if`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum KeepIf {
    /// A share of the live bytes, in per cent.
    Percent(f64),
    /// A number of bytes.
    Bytes(u64),
}

/// Parses `saves >= 5%` or `saves >= 64KB`.
pub(super) fn parse(text: &str) -> Result<KeepIf, String> {
    let wrong = || "takes a condition such as 'saves >= 5%' or 'saves >= 64KB'".to_owned();
    let rest = text.trim().strip_prefix("saves").ok_or_else(wrong)?.trim_start();
    let amount = rest.strip_prefix(">=").ok_or_else(wrong)?.trim();
    match amount.strip_suffix('%') {
        Some(percent) => match percent.trim().parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(KeepIf::Percent(percent)),
            _ => Err(wrong()),
        },
        None => units::parse_bytes(amount).map(|bytes| KeepIf::Bytes(bytes.as_u64())).map_err(|_| wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_parsed() {
        assert_eq!(parse("saves >= 5%"), Ok(KeepIf::Percent(5.0)));
        assert_eq!(parse("saves>=64KB"), Ok(KeepIf::Bytes(64_000)));
        for wrong in ["", "saves", "saves > 5%", "saves >= x", "saves >= 101%", "saves >= -1%"] {
            assert!(parse(wrong).unwrap_err().contains("saves >= 5%"), "{wrong}");
        }
    }
}
