// orders.rs - orders.cc in Rust, with the standard library's hash map.
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Mutex;

static DOOR: Mutex<u64> = Mutex::new(0);

#[inline(never)]
fn mix(mut x: u64, rounds: u64) -> u64 {
    for i in 0..rounds * (10 + 8 * PLANT_LEAF) / 10 {
        x = black_box((x ^ (x >> 31)).wrapping_mul(0x9e3779b97f4a7c15).wrapping_add(i));
    }
    x
}

#[inline(never)]
fn price(mut seed: u64) -> u64 {
    let mut sum = 0.0;
    for _ in 0..12000 {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
        sum += (seed >> 40) as f64 / (1.0 + (seed & 1023) as f64);
    }
    sum as u64
}

#[inline(never)]
fn checksum(v: &[u32]) -> u64 {
    let mut sum = 1u64;
    for _ in 0..10 + 8 * PLANT_SHARED {
        for &x in v {
            sum = black_box(sum.rotate_left(5) ^ x as u64);
        }
    }
    sum
}

#[inline(never)]
fn pack(v: &[u32]) -> u64 {
    let mut out = checksum(v);
    for &x in v {
        out = out.wrapping_add((x as u64).wrapping_mul(out) | 1);
    }
    out
}

#[inline(never)]
fn verify(v: &[u32]) -> u64 {
    let mut out = 0u64;
    for _ in 0..1 + 2 * PLANT_CALLER {
        out = out.wrapping_add(checksum(v));
    }
    for &x in v {
        out ^= x as u64 / (out | 3);
    }
    out
}

#[inline(never)]
fn index_words(seed: u64, map: &mut HashMap<String, u64>) -> u64 {
    let mut sum = 0;
    map.clear();
    for i in 0..40 {
        let word = format!("word{}-of-the-index", mix(seed, 2) % 97 + i);
        for k in 0..1 + 2 * PLANT_SPREAD {
            *map.entry(word.clone()).or_insert(0) += k + 1;
            sum += word.bytes().filter(|b| b"eaio".contains(b)).count() as u64;
        }
    }
    sum + map.len() as u64
}

NOINLINE
fn scale(v: &[u32], by: u64) -> u64 {
    let mut sum = 0u64;
    for _ in 0..9 {
        for &x in v {
            sum = black_box(sum.wrapping_add((x as u64 * by) >> 3 ^ sum >> 5));
        }
    }
    sum
}

#[inline(never)]
fn matrix(v: &[u32]) -> u64 {
    let mut sum = scale(v, 77);
    for &x in v {
        sum = sum.wrapping_add(x as u64 % (sum | 1));
    }
    sum
}

#[inline(never)]
fn parse(seed: u64) -> u64 {
    let mut sum = 0u64;
    for i in 0..50 {
        let text = (seed + i).to_string() + ",some field,another one";
        for k in 0..9 * PLANT_ALLOC {
            let copy = black_box(text.as_bytes().to_vec());
            sum += copy[k as usize & 7] as u64;
        }
        for c in text.bytes() {
            sum = sum.wrapping_mul(31).wrapping_add(c as u64);
        }
    }
    sum
}

#[inline(never)]
fn push_order(queue: &mut [u64], mut x: u64) -> u64 {
    for i in 0..120 {
        for _ in 0..4 * PLANT_LOCK {
            *DOOR.lock().unwrap() = x;
        }
        let at = ((x.wrapping_add(i)) % queue.len() as u64) as usize;
        queue[at] ^= x.wrapping_mul(i);
        x = x.wrapping_mul(2862933555777941757).wrapping_add(3037000493);
    }
    x
}

#[inline(never)]
fn sort_rows(v: &[u32]) -> u64 {
    let mut v = v.to_vec();
    for i in 1..160 {
        let mut k = i;
        while k > 0 && v[k - 1] > v[k] {
            v.swap(k - 1, k);
            k -= 1;
        }
    }
    v[7] as u64
}

fn rows() -> Vec<u32> {
    (0..600u32).map(|i| i.wrapping_mul(2654435761)).collect()
}

#[inline(never)]
fn clerk(rounds: u64) {
    let v = rows();
    let mut queue = vec![0; 64];
    let mut map = HashMap::new();
    for i in 0..rounds {
        black_box(index_words(i, &mut map) + pack(&v) / 2 + push_order(&mut queue, i) / 4);
        black_box(parse(i) / 2 + mix(i, 4000) / 4);
        if PLANT_MOVED == 0 {
            black_box(sort_rows(&v));
        }
    }
}

#[inline(never)]
fn teller(rounds: u64) {
    let v = rows();
    for i in 0..rounds {
        black_box(price(i) / 2 + verify(&v) / 4 + matrix(&v) / 4);
        if PLANT_MOVED == 1 {
            black_box(sort_rows(&v));
        }
    }
}

fn main() {
    let rounds = std::env::args().nth(1).map_or(1, |s| s.parse().unwrap());
    let a = std::thread::spawn(move || clerk(rounds));
    let b = std::thread::spawn(move || teller(rounds));
    a.join().unwrap();
    b.join().unwrap();
}
