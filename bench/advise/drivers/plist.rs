//! Reads a library of songs, and writes it as binary.
use plist::Value;

fn main() {
    let song = |number: usize| {
        format!(
            "<dict><key>Track ID</key><integer>{number}</integer><key>Name</key><string>Song {number}</string>\
             <key>Artist</key><string>Artist {}</string><key>Rating</key><real>{}.5</real>\
             <key>Added</key><date>2020-01-01T00:00:00Z</date><key>Loved</key><{}/>\
             <key>Genres</key><array><string>genre {}</string><string>pop</string></array></dict>\n",
            number % 700,
            number % 5,
            number % 2 == 0,
            number % 30
        )
    };
    let songs: String = (0..30_000).map(song).collect();
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\"><dict><key>Tracks</key><array>\n{songs}</array></dict></plist>\n"
    );
    let value = Value::from_reader_xml(text.as_bytes()).unwrap();
    let mut binary = Vec::new();
    value.to_writer_binary(&mut binary).unwrap();
    let again = Value::from_reader(std::io::Cursor::new(&binary)).unwrap();
    println!("{} {}", binary.len(), again == value);
}
