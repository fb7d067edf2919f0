//! shell
fn main(){}
