use std;
// ANCHOR: lamp
fn lamp() {}
// ANCHOR_END: lamp
