//! What an attack on the gate came to, as `cargo xtask attack` reads it from the output of tests.

/// Notes one row of the table: what was tried, at which door, what came of it, and where that can be seen.
pub fn row(attack: &str, door: &str, outcome: &str, visible: &str) {
    println!("attack | {attack} | {door} | {outcome} | {visible}");
}

/// Notes one row of the table of honest flows: how often a person was asked, and how many rulings were asked for again.
#[track_caller]
pub fn honest(flow: &str, asked_of_the_person: usize, asked_again: usize) {
    println!("honest | {flow} | {asked_of_the_person} | {asked_again}");
    assert_eq!(asked_again, 0, "{flow}: nothing is asked again");
}
