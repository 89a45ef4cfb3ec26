//! chrono.

use ::chrono::{
    DateTime, Days, FixedOffset, Month, Months, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Utc, Weekday,
};

plain! {
    Days; FixedOffset; Month; Months; NaiveDate; NaiveDateTime; NaiveTime; TimeDelta; Utc; Weekday;
    @[Tz: TimeZone] DateTime<Tz>;
}
