//! Solves a random formula of clauses with three literals.
use varisat::{CnfFormula, ExtendFormula, Lit, Solver};

fn main() {
    let mut state = 11_u64;
    let mut below = |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let mut formula = CnfFormula::new();
    for _ in 0..12_000 {
        let clause: Vec<Lit> = (0..3).map(|_| Lit::from_index(below(4_400) as usize, below(2) == 0)).collect();
        formula.add_clause(&clause);
    }
    let mut solver = Solver::new();
    solver.add_formula(&formula);
    println!("{:?}", solver.solve());
}
