use std::collections::{BTreeMap, HashMap};
use std::fmt::{Debug, Display};
use std::sync::{Arc, Mutex};
use std::thread;
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key { name: String, n: u64 }
trait Shape { fn area(&self) -> f64; fn name(&self) -> String { "shape".into() } }
struct Circle(f64);
struct Square(f64);
impl Shape for Circle { #[inline(never)] fn area(&self) -> f64 { let mut s = 0.0; for i in 0..200 { s += (self.0 * i as f64).sin(); } s } }
impl Shape for Square { #[inline(never)] fn area(&self) -> f64 { let mut s = 0.0; for i in 0..200 { s += (self.0 * i as f64).cos(); } s } }
#[inline(never)]
fn total<T: Shape + ?Sized>(v: &[Box<T>]) -> f64 { v.iter().map(|s| s.area()).sum() }
#[inline(never)]
fn words(text: &str) -> HashMap<String, Vec<usize>> {
    let mut m: HashMap<String, Vec<usize>> = HashMap::new();
    for (i, w) in text.split(' ').enumerate() { m.entry(w.to_string()).or_default().push(i); }
    m
}
#[inline(never)]
fn sorted<K: Ord + Clone + Debug, V: Display>(m: &BTreeMap<K, V>) -> Vec<String> {
    let mut v: Vec<String> = m.iter().map(|(k, v)| format!("{:?}={}", k, v)).collect();
    v.sort_by(|a, b| b.cmp(a)); v
}
fn main() {
    let n: usize = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(60);
    let sum = Arc::new(Mutex::new(0.0));
    let ts: Vec<_> = (0..3).map(|t| { let sum = sum.clone(); thread::Builder::new().name(format!("worker-{}", t)).spawn(move || {
        let text: String = (0..2000).map(|i| format!("w{} ", i % 97)).collect();
        for r in 0..n {
            let shapes: Vec<Box<dyn Shape>> = (0..200).map(|i| -> Box<dyn Shape> { if i % 2 == 0 { Box::new(Circle(i as f64)) } else { Box::new(Square(i as f64)) } }).collect();
            let a = total(&shapes);
            let w = words(&text);
            let m: BTreeMap<Key, usize> = w.into_iter().map(|(k, v)| (Key { name: k, n: r as u64 }, v.len())).collect();
            let s = sorted(&m);
            *sum.lock().unwrap() += a + s.len() as f64;
        }
    }).unwrap() }).collect();
    for t in ts { t.join().unwrap(); }
    println!("{}", sum.lock().unwrap());
}
