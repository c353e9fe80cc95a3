//! Prints the program IR of a binary: `cargo run -p threadbare-native --example show -- a.out`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args_os().skip(1) {
        print!("{}", ir::print(&native::read_program(path.as_ref())?.program));
    }
    Ok(())
}
