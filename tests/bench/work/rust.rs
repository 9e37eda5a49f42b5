// rust.rs - what Rust does to stacks: panics that unwind, closures, traits,
// iterators, inlined generics, recursion, threads.
// usage: rust SECONDS
use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::panic;
use std::time::{Duration, Instant};

trait Visit {
    fn visit(&self, depth: u32) -> u64;
}

struct Leaf(u64);
struct Node(Vec<Box<dyn Visit>>);

impl Visit for Leaf {
    fn visit(&self, depth: u32) -> u64 {
        self.0 + u64::from(depth)
    }
}

impl Visit for Node {
    fn visit(&self, depth: u32) -> u64 {
        self.0.iter().map(|v| v.visit(depth + 1)).sum()
    }
}

fn tree(depth: u32) -> Box<dyn Visit> {
    if depth == 0 {
        return Box::new(Leaf(3));
    }
    Box::new(Node((0..3).map(|_| tree(depth - 1)).collect()))
}

#[inline(never)]
fn panics(n: u32) -> u32 {
    let held = vec![n; 10];
    if n > 10 {
        panic::panic_any(n);
    }
    panics(n + 1) + held[3]
}

#[inline(never)]
fn words() -> usize {
    let mut count: HashMap<String, usize> = HashMap::new();
    let mut order = BTreeMap::new();
    for i in 0..400u32 {
        *count.entry(format!("{:x}", i * 7919 % 257)).or_default() += 1;
    }
    let mut all: Vec<_> = count.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    for (word, n) in all {
        order.insert(word, n);
    }
    order.len()
}

fn work(seconds: f64) {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let root = tree(6);
    while Instant::now() < end {
        for i in 0..20 {
            let _ = black_box(panic::catch_unwind(|| panics(i % 6)));
        }
        black_box(words());
        black_box(root.visit(0));
    }
}

fn main() {
    let seconds = std::env::args()
        .nth(1)
        .map_or(1.0, |s| s.parse().unwrap_or(1.0));
    panic::set_hook(Box::new(|_| ()));
    let other = std::thread::spawn(move || work(seconds));
    work(seconds);
    other.join().unwrap();
}
