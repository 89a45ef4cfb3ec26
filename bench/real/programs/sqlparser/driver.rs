//! Statements of several kinds: parsed, and the trees cloned.

use sqlparser::ast::Statement;
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

const SQL: &str = "
    SELECT a, b + 1 AS c, COUNT(*) FROM t JOIN u ON t.id = u.id AND u.kind IN (1, 2, 3)
    WHERE (a > 10 AND b < 20 OR NOT c = 'x') AND d BETWEEN 1 AND 2 * (3 + 4) GROUP BY a, b HAVING COUNT(*) > 1 ORDER BY a DESC LIMIT 10;
    INSERT INTO t (a, b, c) VALUES (1, 'two', 3.0), (4, 'five', -6.0), (7, NULL, 8 + 9);
    UPDATE t SET a = a + 1, b = CASE WHEN c > 0 THEN 'p' WHEN c < 0 THEN 'n' ELSE 'z' END WHERE id = 5;
    WITH r AS (SELECT id, (SELECT MAX(x) FROM v WHERE v.id = w.id) AS m FROM w) SELECT * FROM r WHERE m IS NOT NULL UNION ALL SELECT 1, 2;
    CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL DEFAULT 'n', at TIMESTAMP, CHECK (id > 0 AND id < 100));
";

fn parse() -> Vec<Statement> {
    Parser::parse_sql(&GenericDialect {}, SQL).expect("valid SQL")
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        "parse" => Box::new(|| (0..50).map(|_| parse().len() as u64).sum()),
        "clone" => {
            let statements = parse();
            Box::new(move || (0..200).map(|_| statements.clone().len() as u64).sum())
        }
        _ => panic!("no workload {name}"),
    }
}
