//! Keeps many parsed statements.

use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

fn main() {
    let count: usize = std::env::args().nth(1).map_or(100, |text| text.parse().expect("a number"));
    let mut statements = Vec::new();
    for n in 0..count {
        let text = match n % 5 {
            0 => format!("SELECT a{n}, b + {n}, count(*) FROM t{} WHERE x = 'y{n}' AND z BETWEEN 1 AND {n} GROUP BY a{n}", n % 9),
            1 => format!("INSERT INTO t{} (a, b, c) VALUES ({n}, 'v{n}', NULL), (2, 'w', 3.5)", n % 9),
            2 => format!("UPDATE t{} SET a = a + {n}, b = lower(b) WHERE id IN (1, 2, {n})", n % 9),
            3 => format!("SELECT t.*, u.name FROM t{} AS t LEFT JOIN users u ON t.id = u.id ORDER BY u.name LIMIT {n}", n % 9),
            _ => format!("CREATE TABLE t{n} (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, score DECIMAL(10, 2))"),
        };
        statements.extend(Parser::parse_sql(&GenericDialect {}, &text).expect("it is SQL"));
    }
    println!("{} statements", statements.len());
}
