//! time.

use ::time::{Date, Duration, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcDateTime, UtcOffset, Weekday};

plain! {
    Date; Duration; Month; OffsetDateTime; PrimitiveDateTime; Time; UtcDateTime; UtcOffset; Weekday;
}
