//! Other formats that serde reads: each becomes JSON texts, one a line, at the door.
//!
//! TOML is always read. YAML, CSV, `MessagePack` and CBOR need the feature `formats`. A file is held in memory.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use std::fmt;
use std::io::{self, Write};

/// A format other than JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Other {
    Toml,
    Yaml,
    /// Lines with this delimiter between the cells; the first has the names.
    Csv(u8),
    MessagePack,
    Cbor,
}

impl Other {
    /// Returns the format of files with this ending.
    pub(super) fn from_ending(ending: &str) -> Option<Self> {
        Some(match ending {
            "toml" => Self::Toml,
            "yaml" | "yml" => Self::Yaml,
            "csv" => Self::Csv(b','),
            "tsv" => Self::Csv(b'\t'),
            "msgpack" | "mpk" => Self::MessagePack,
            "cbor" => Self::Cbor,
            _ => return None,
        })
    }

    /// Returns the texts of a file as JSON, one a line.
    pub(super) fn to_json(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        let read = match self {
            Self::Toml => toml(bytes, &mut out),
            #[cfg(feature = "formats")]
            Self::Yaml => yaml(bytes, &mut out),
            #[cfg(feature = "formats")]
            Self::Csv(delimiter) => table(bytes, delimiter, &mut out),
            #[cfg(feature = "formats")]
            Self::MessagePack => message_pack(bytes, &mut out),
            #[cfg(feature = "formats")]
            Self::Cbor => cbor(bytes, &mut out),
            #[cfg(not(feature = "formats"))]
            _ => Err("this program was built without the feature `formats`, which reads it".to_owned()),
        };
        read.map(|()| out).map_err(io::Error::other)
    }
}

type Read = Result<(), String>;

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(super::text::without_mark(bytes)).map_err(|_| super::problem::not_utf8(bytes).to_owned())
}

/// Returns the first line of a message: some readers print the place below it.
fn one_line(error: &impl fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

fn toml(bytes: &[u8], out: &mut Vec<u8>) -> Read {
    let wrong = |error: toml::de::Error| match error.span() {
        Some(at) => {
            let before = String::from_utf8_lossy(&bytes[..at.start.min(bytes.len())]).into_owned();
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            format!("line {}, column {column}: {}", before.matches('\n').count() + 1, one_line(&error.message()))
        }
        None => one_line(&error.message()),
    };
    let document = toml::Deserializer::parse(text(bytes)?).map_err(wrong)?;
    Json(out).deserialize(document).map_err(wrong)
}

#[cfg(feature = "formats")]
fn yaml(bytes: &[u8], out: &mut Vec<u8>) -> Read {
    for document in yaml_serde::Deserializer::from_str(text(bytes)?) {
        Json(out).deserialize(document).map_err(|error| one_line(&error))?;
        out.push(b'\n');
    }
    Ok(())
}

/// A column's cells are numbers or booleans if all that are not empty are.
#[cfg(feature = "formats")]
#[derive(Clone, Copy, PartialEq)]
enum Cells {
    Bool,
    Number,
    Text,
}

#[cfg(feature = "formats")]
impl Cells {
    fn from_cell(cell: &str) -> Self {
        match cell {
            "true" | "false" => Self::Bool,
            // JSON's numbers have no leading zero or plus, so that codes such as `007` are text.
            _ if serde_json::from_str::<serde_json::Number>(cell)
                .is_ok_and(|_| !cell.contains(char::is_whitespace)) =>
            {
                Self::Number
            }
            _ => Self::Text,
        }
    }
}

/// Reads a table: each row is an object.
#[cfg(feature = "formats")]
fn table(bytes: &[u8], delimiter: u8, out: &mut Vec<u8>) -> Read {
    let bytes = text(bytes)?.as_bytes();
    let rows = || csv::ReaderBuilder::new().delimiter(delimiter).from_reader(bytes);
    let names = rows().headers().map_err(|error| one_line(&error))?.clone();
    let mut columns: Vec<Option<Cells>> = vec![None; names.len()];
    for row in rows().records() {
        for (column, cell) in columns.iter_mut().zip(&row.map_err(|error| one_line(&error))?) {
            let cells = Cells::from_cell(cell);
            if !cell.is_empty() && *column != Some(cells) {
                *column = Some(if column.is_none() { cells } else { Cells::Text });
            }
        }
    }
    for row in rows().records() {
        let row = row.map_err(|error| one_line(&error))?;
        let mut front = b'{';
        for ((name, cell), column) in names.iter().zip(&row).zip(&columns) {
            out.push(front);
            front = b',';
            string(name, out);
            out.push(b':');
            match column {
                Some(Cells::Text) => string(cell, out),
                // As serde reads an empty cell into an `Option`.
                _ if cell.is_empty() => out.extend(b"null"),
                _ => out.extend(cell.as_bytes()),
            }
        }
        out.extend(if front == b'{' { &b"{}\n"[..] } else { b"}\n" });
    }
    Ok(())
}

#[cfg(feature = "formats")]
fn message_pack(bytes: &[u8], out: &mut Vec<u8>) -> Read {
    let mut rest = bytes;
    while !rest.is_empty() {
        let mut reader = rmp_serde::Deserializer::new(&mut rest);
        Json(out).deserialize(&mut reader).map_err(|error| one_line(&error))?;
        out.push(b'\n');
    }
    Ok(())
}

#[cfg(feature = "formats")]
fn cbor(bytes: &[u8], out: &mut Vec<u8>) -> Read {
    let mut rest = bytes;
    while !rest.is_empty() {
        let Text(json) = ciborium::from_reader(&mut rest).map_err(|error| match error {
            ciborium::de::Error::Io(_) => "ends too early; is the file complete?".to_owned(),
            ciborium::de::Error::Syntax(at) => format!("no CBOR at byte {at} of an item"),
            other => one_line(&other),
        })?;
        out.extend(json);
        out.push(b'\n');
    }
    Ok(())
}

/// A value as JSON, for readers that take no seed.
#[cfg(feature = "formats")]
struct Text(Vec<u8>);

#[cfg(feature = "formats")]
impl<'de> serde::Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut json = Vec::new();
        Json(&mut json).deserialize(deserializer)?;
        Ok(Self(json))
    }
}

fn string(text: &str, out: &mut Vec<u8>) {
    // A string can always be written to memory.
    let _ = serde_json::to_writer(out, text);
}

/// Writes the value that it reads as JSON.
struct Json<'a>(&'a mut Vec<u8>);

impl Json<'_> {
    fn plain(self, value: impl fmt::Display) {
        let _ = write!(self.0, "{value}");
    }
}

impl<'de> DeserializeSeed<'de> for Json<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// The key by which the crate `toml` passes a date.
const DATE: &str = "$__toml_private_datetime";
/// The name by which the crate `ciborium` passes a value with a tag.
const TAGGED: &str = "@@TAGGED@@";

impl<'de> Visitor<'de> for Json<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value that JSON has")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.plain(value);
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.plain(value);
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.plain(value);
        Ok(())
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<(), E> {
        self.plain(value);
        Ok(())
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<(), E> {
        self.plain(value);
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        // Infinity and NaN become null, as serde_json writes them.
        let _ = serde_json::to_writer(self.0, &value);
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        string(value, self.0);
        Ok(())
    }

    fn visit_bytes<E: Error>(self, value: &[u8]) -> Result<(), E> {
        // As serde_json writes bytes.
        let _ = serde_json::to_writer(self.0, value);
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.plain("null");
        Ok(())
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.plain("null");
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut front = b'[';
        loop {
            // An element is written after its comma, which the end of the list takes back.
            self.0.push(front);
            if seq.next_element_seed(Json(self.0))?.is_none() {
                break;
            }
            front = b',';
        }
        if front == b',' {
            self.0.pop();
        }
        self.0.push(b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let start = self.0.len();
        let mut front = b'{';
        while let Some(key) = map.next_key_seed(Key)? {
            if key == DATE && front == b'{' {
                self.0.truncate(start);
                return map.next_value_seed(Json(self.0));
            }
            self.0.push(front);
            front = b',';
            string(&key, self.0);
            self.0.push(b':');
            map.next_value_seed(Json(self.0))?;
        }
        self.0.extend(if front == b'{' { &b"{}"[..] } else { b"}" });
        Ok(())
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<(), A::Error> {
        // A tag of CBOR says how to read a value, and serde ignores it; a tag of YAML is the name of a variant.
        let (name, content) = data.variant_seed(Key)?;
        if name == TAGGED {
            return content.tuple_variant(2, Tagged(self.0));
        }
        self.0.push(b'{');
        string(&name, self.0);
        self.0.push(b':');
        content.newtype_variant_seed(Json(self.0))?;
        self.0.push(b'}');
        Ok(())
    }
}

/// Writes the second of two values: that behind a tag.
struct Tagged<'a>(&'a mut Vec<u8>);

impl<'de> Visitor<'de> for Tagged<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a tag and a value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        seq.next_element::<IgnoredAny>()?;
        seq.next_element_seed(Json(self.0))?.ok_or_else(|| A::Error::custom("a tag without a value"))
    }
}

/// Reads a key of a map: JSON has strings only.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Key {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a string, a number or a boolean as a key")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<String, E> {
        Ok(value.to_owned())
    }

    fn visit_unit<E: Error>(self) -> Result<String, E> {
        Ok("null".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(format: Other, bytes: &[u8]) -> String {
        String::from_utf8(format.to_json(bytes).unwrap()).unwrap()
    }

    #[test]
    fn toml_is_json_with_dates_as_text() {
        let text = b"at = 2026-01-02T03:04:05Z\n[a]\nb = [1, 2.0, \"x\"]\nempty = []\n[[c]]\n[[c]]\nd = {}\n";
        assert_eq!(
            json(Other::Toml, text),
            r#"{"a":{"b":[1,2.0,"x"],"empty":[]},"at":"2026-01-02T03:04:05Z","c":[{},{"d":{}}]}"#
        );
        assert!(Other::Toml.to_json(b"a = \n").is_err() && Other::Toml.to_json(b"\xff").is_err());
    }

    #[cfg(feature = "formats")]
    #[test]
    fn each_document_of_yaml_is_a_text() {
        let text = b"a: 1\nb: [x, ~, true]\n2: &c {d: 1.5}\ne: *c\n---\nt: !Point [1, 2]\n";
        assert_eq!(
            json(Other::Yaml, text),
            "{\"a\":1,\"b\":[\"x\",null,true],\"2\":{\"d\":1.5},\"e\":{\"d\":1.5}}\n{\"t\":{\"Point\":[1,2]}}\n"
        );
        assert!(Other::Yaml.to_json(b"a: [1\n").is_err());
    }

    #[cfg(feature = "formats")]
    #[test]
    fn columns_of_a_table_have_one_type() {
        let text = b"id,code,ok,mixed,\"a,b\"\n1,007,true,1,\n-2.5,12,false,x,\"y \"\"z\"\"\"\n,,,,\n";
        assert_eq!(
            json(Other::Csv(b','), text),
            "{\"id\":1,\"code\":\"007\",\"ok\":true,\"mixed\":\"1\",\"a,b\":\"\"}\n\
             {\"id\":-2.5,\"code\":\"12\",\"ok\":false,\"mixed\":\"x\",\"a,b\":\"y \\\"z\\\"\"}\n\
             {\"id\":null,\"code\":\"\",\"ok\":null,\"mixed\":\"\",\"a,b\":\"\"}\n"
        );
        assert!(Other::Csv(b',').to_json(b"a,b\n1\n").is_err());
    }

    #[cfg(feature = "formats")]
    #[test]
    fn binary_formats_may_have_several_texts() {
        // {"a": [1, -1, nil, true, 1.5, bin 01 02], 7: "x"}, then 5.
        let message = b"\x82\xa1a\x96\x01\xff\xc0\xc3\xca\x3f\xc0\0\0\xc4\x02\x01\x02\x07\xa1x\x05";
        assert_eq!(json(Other::MessagePack, message), "{\"a\":[1,-1,null,true,1.5,[1,2]],\"7\":\"x\"}\n5\n");
        // {"a": 0("2026"), "b": [1, -1, null, h'0102']}, then false.
        let cbor = b"\xa2\x61a\xc0\x642026\x61b\x84\x01\x20\xf6\x42\x01\x02\xf4";
        assert_eq!(json(Other::Cbor, cbor), "{\"a\":\"2026\",\"b\":[1,-1,null,[1,2]]}\nfalse\n");
        for cut in 1..message.len() - 1 {
            let _ = Other::MessagePack.to_json(&message[..cut]);
        }
        assert!(Other::Cbor.to_json(&cbor[..9]).is_err() && Other::MessagePack.to_json(&message[..9]).is_err());
    }
}
