//! Files with lines of `name = sum of names`, of which one changes after each round.
use salsa::Setter as _;

#[salsa::input]
struct File {
    #[returns(ref)]
    text: String,
}

#[salsa::interned]
struct Name<'db> {
    #[returns(ref)]
    text: String,
}

#[salsa::tracked]
struct Item<'db> {
    name: Name<'db>,
    #[tracked]
    #[returns(ref)]
    parts: Vec<Name<'db>>,
}

#[salsa::tracked(returns(ref))]
fn items<'db>(db: &'db dyn salsa::Database, file: File) -> Vec<Item<'db>> {
    let item = |line: &str| {
        let (name, parts) = line.split_once(" = ")?;
        let parts = parts.split(" + ").map(|part| Name::new(db, part.to_owned())).collect();
        Some(Item::new(db, Name::new(db, name.to_owned()), parts))
    };
    file.text(db).lines().filter_map(item).collect()
}

#[salsa::tracked]
fn weight<'db>(db: &'db dyn salsa::Database, item: Item<'db>) -> usize {
    item.name(db).text(db).len() + item.parts(db).iter().map(|part| part.text(db).len()).sum::<usize>()
}

#[salsa::tracked]
fn total(db: &dyn salsa::Database, file: File) -> usize {
    items(db, file).iter().map(|item| weight(db, *item)).sum()
}

fn main() {
    let mut db = salsa::DatabaseImpl::default();
    let text = |file: usize, version: usize| -> String {
        let line = |line: usize| format!("item{file}_{line} = item{}_{} + shared{} + version{version}\n", file / 2, line / 2, line % 50);
        (0..100).map(line).collect()
    };
    let files: Vec<File> = (0..500).map(|file| File::new(&db, text(file, 0))).collect();
    let mut sum = 0;
    for round in 0..20 {
        sum += files.iter().map(|file| total(&db, *file)).sum::<usize>();
        for number in (round..files.len()).step_by(20) {
            files[number].set_text(&mut db).to(text(number, round + 1));
        }
    }
    println!("{sum}");
}
