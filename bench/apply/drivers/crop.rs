//! Edits texts.
use crop::Rope;

fn main() {
    let text: String = (0..60_000).map(|line| format!("line {line} of a text that is edited\n")).collect();
    let mut ropes: Vec<Rope> = (0..4).map(|_| Rope::from(text.as_str())).collect();
    for (of, rope) in ropes.iter_mut().enumerate() {
        for at in 0..20_000 {
            let place = (at * 7_919 + of) % rope.byte_len();
            rope.insert(place, "new");
            if at % 3 == 0 {
                rope.delete(place..place + 3);
            }
        }
    }
    println!("{}", ropes.iter().map(Rope::line_len).sum::<usize>());
}
