//! Misuse that the compiler refuses.
//!
//! trybuild compares the compiler's words. These cases are chosen so that the
//! words speak of the case alone; that executors and handles are not `Send`,
//! where the compiler would list private types, is a test of `handles`.

#[test]
fn misuse_does_not_compile() {
    trybuild::TestCases::new().compile_fail("compile_fail/*.rs");
}
