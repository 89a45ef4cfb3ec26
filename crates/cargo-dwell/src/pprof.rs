//! Files for `go tool pprof` and the viewers that read its format: a `profile.proto`, compressed by gzip.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::HashMap;
use std::io::{self, Write};

/// A profile: samples with a stack of frames and a number for each kind of value.
pub(crate) struct Profile {
    strings: HashMap<String, u64>,
    /// The table of strings, as fields of the message.
    table: Message,
    functions: Message,
    /// The number of each function, by name and file.
    known: HashMap<(u64, u64), u64>,
    /// The number of each place in a function, by its line.
    places: HashMap<(u64, u64), u64>,
    locations: Message,
    samples: Message,
    kinds: Message,
    default: u64,
}

/// The numbers of the fields of `Profile` in `profile.proto`.
mod field {
    pub(super) const SAMPLE_TYPE: u64 = 1;
    pub(super) const SAMPLE: u64 = 2;
    pub(super) const LOCATION: u64 = 4;
    pub(super) const FUNCTION: u64 = 5;
    pub(super) const STRING_TABLE: u64 = 6;
    pub(super) const DEFAULT_SAMPLE_TYPE: u64 = 14;
}

impl Profile {
    /// Returns a profile without samples. `kinds` are the kinds of values with their units, and `default` is the one that a
    /// viewer shows first.
    pub(crate) fn new(kinds: &[(&str, &str)], default: &str) -> Self {
        let mut profile = Self {
            strings: HashMap::new(),
            table: Message::default(),
            functions: Message::default(),
            known: HashMap::new(),
            places: HashMap::new(),
            locations: Message::default(),
            samples: Message::default(),
            kinds: Message::default(),
            default: 0,
        };
        // The first string is empty.
        profile.string("");
        for (kind, unit) in kinds {
            let mut message = Message::default();
            message.number(1, profile.string(kind));
            message.number(2, profile.string(unit));
            profile.kinds.message(field::SAMPLE_TYPE, &message);
        }
        profile.default = profile.string(default);
        profile
    }

    fn string(&mut self, text: &str) -> u64 {
        if let Some(number) = self.strings.get(text) {
            return *number;
        }
        let number = self.strings.len() as u64;
        self.table.bytes(field::STRING_TABLE, text.as_bytes());
        self.strings.insert(text.to_owned(), number);
        number
    }

    /// Adds a sample. Its frames are innermost first; a frame may end with its place in the source, `name (file:line)`. Labels
    /// are texts and numbers by their keys.
    pub(crate) fn add<'s>(
        &mut self,
        frames: impl IntoIterator<Item = &'s str>,
        values: &[u64],
        texts: &[(&str, &str)],
        numbers: &[(&str, u64, &str)],
    ) {
        let locations: Vec<u64> = frames.into_iter().map(|frame| self.location(frame)).collect();
        let mut sample = Message::default();
        sample.packed(1, &locations);
        sample.packed(2, values);
        for (key, text) in texts {
            let mut label = Message::default();
            label.number(1, self.string(key));
            label.number(2, self.string(text));
            sample.message(3, &label);
        }
        for (key, number, unit) in numbers {
            let mut label = Message::default();
            label.number(1, self.string(key));
            label.number(3, *number);
            label.number(4, self.string(unit));
            sample.message(3, &label);
        }
        self.samples.message(field::SAMPLE, &sample);
    }

    fn location(&mut self, frame: &str) -> u64 {
        let (name, file, line) = placed(frame);
        let (name, file) = (self.string(name), self.string(file));
        let next = self.known.len() as u64 + 1;
        let function = *self.known.entry((name, file)).or_insert(next);
        if function == next {
            let mut message = Message::default();
            // Without a name of the linker, `pprof` takes the name as it is, and does not cut what is in `<>`.
            for (number, value) in [(1, function), (2, name), (4, file)] {
                message.number(number, value);
            }
            self.functions.message(field::FUNCTION, &message);
        }
        let next = self.places.len() as u64 + 1;
        let location = *self.places.entry((function, line)).or_insert(next);
        if location == next {
            let mut of_line = Message::default();
            of_line.number(1, function);
            of_line.number(2, line);
            let mut message = Message::default();
            message.number(1, location);
            message.message(4, &of_line);
            self.locations.message(field::LOCATION, &message);
        }
        location
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Returns the error of `out`.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut default = Message::default();
        default.number(field::DEFAULT_SAMPLE_TYPE, self.default);
        let mut out = GzEncoder::new(out, Compression::default());
        for part in [&self.kinds, &self.samples, &self.locations, &self.functions, &self.table, &default] {
            out.write_all(&part.0)?;
        }
        out.finish()?.flush()
    }
}

/// Returns the name, the file and the line of a frame.
fn placed(frame: &str) -> (&str, &str, u64) {
    let parts = || {
        let (name, place) = frame.strip_suffix(')')?.rsplit_once(" (")?;
        let (file, line) = place.rsplit_once(':')?;
        Some((name, file, line.parse().ok()?))
    };
    parts().unwrap_or((frame, "", 0))
}

/// Fields of a protobuf message.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    fn number(&mut self, field: u64, number: u64) {
        self.varint(field << 3);
        self.varint(number);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn message(&mut self, field: u64, message: &Self) {
        self.bytes(field, &message.0);
    }

    fn packed(&mut self, field: u64, numbers: &[u64]) {
        let mut all = Self::default();
        for number in numbers {
            all.varint(*number);
        }
        self.message(field, &all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn places_are_split_from_names() {
        assert_eq!(placed("app::main (src/main.rs:12)"), ("app::main", "src/main.rs", 12));
        assert_eq!(placed("f(u8) (a)"), ("f(u8) (a)", "", 0));
        assert_eq!(placed("State.sessions"), ("State.sessions", "", 0));
    }

    #[test]
    fn equal_frames_are_one_location() {
        let mut profile = Profile::new(&[("space", "bytes")], "space");
        profile.add(["a (x.rs:1)", "main"], &[300], &[("type", "Vec<u8>")], &[("unused", 5, "bytes")]);
        profile.add(["b", "main"], &[1], &[], &[]);
        let mut file = Vec::new();
        profile.write(&mut file).unwrap();
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(&*file).read_to_end(&mut bytes).unwrap();
        // Two varints of a sample: its locations, 3 and 2, and its value.
        assert!(bytes.windows(7).any(|part| part == [0x0a, 2, 3, 2, 0x12, 1, 1]), "{bytes:?}");
        assert_eq!(profile.known.len(), 3);
        assert!(bytes.windows(6).any(|part| part == *b"\x32\x04main"));
    }
}
