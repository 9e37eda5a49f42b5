// rust.rs - what Rust does to stacks: closures, traits, generics, panics that
// are caught, threads, sorting, futures.
// usage: rust SECONDS
use std::collections::HashMap;
use std::future::Future;
use std::panic;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

trait Visit {
    fn visit(&self, depth: u64) -> u64;
}

struct Leaf(u64);
struct Node(Vec<Box<dyn Visit + Send>>);

impl Visit for Leaf {
    fn visit(&self, depth: u64) -> u64 {
        hash(self.0 ^ depth)
    }
}

impl Visit for Node {
    fn visit(&self, depth: u64) -> u64 {
        self.0.iter().map(|v| v.visit(depth + 1)).sum::<u64>() + 1
    }
}

#[inline(never)]
fn hash(n: u64) -> u64 {
    let mut h = n;
    for i in 0..60 {
        h = h.wrapping_mul(33) ^ (h >> 7) ^ i;
    }
    h % 1000
}

fn tree(depth: u32) -> Box<dyn Visit + Send> {
    if depth == 0 {
        return Box::new(Leaf(7));
    }
    Box::new(Node((0..3).map(|_| tree(depth - 1)).collect()))
}

#[inline(never)]
fn panics(n: u32) -> u32 {
    if n > 6 {
        panic!("deep");
    }
    panics(n + 1) + std::hint::black_box(n)
}

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

struct Again(bool);

impl Future for Again {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.0 = !self.0;
        if self.0 {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }
}

async fn waits(n: u64) -> u64 {
    let before = hash(n);
    Again(false).await;
    before + hash(n + 1)
}

async fn all_of(n: u64) -> u64 {
    let mut sum = 0;
    for i in 0..n {
        let inner: Pin<Box<dyn Future<Output = u64>>> = Box::pin(waits(i));
        sum += inner.await + waits(i + 1).await;
    }
    sum
}

fn futures(n: u64) -> u64 {
    let waker = Waker::from(Arc::new(Nobody));
    let mut cx = Context::from_waker(&waker);
    let mut all = Box::pin(async { all_of(n).await + waits(n).await });
    loop {
        if let Poll::Ready(sum) = all.as_mut().poll(&mut cx) {
            return sum;
        }
    }
}

fn words() -> usize {
    let mut count: HashMap<String, u32> = HashMap::new();
    for i in 0..200u32 {
        *count.entry(format!("{:x}", i * 7919 % 257)).or_default() += 1;
    }
    let mut all: Vec<_> = count.keys().cloned().collect();
    all.sort_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
    all.join(",").len()
}

fn work(seconds: f64) -> u64 {
    let root = tree(6);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut sum = 0;
    while Instant::now() < end {
        sum += root.visit(0) + words() as u64 + futures(300);
        for _ in 0..if cfg!(panic = "unwind") { 5 } else { 0 } {
            sum += panic::catch_unwind(|| panics(0)).is_err() as u64;
        }
    }
    sum
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let seconds: f64 = std::env::args().nth(1).map_or(1.0, |a| a.parse().unwrap());
    let other = thread::spawn(move || work(seconds / 2.0));
    let sum = work(seconds / 2.0);
    std::process::exit((sum + other.join().unwrap() == 1) as i32);
}
