// orders.js - orders.cc in JavaScript; what begins with LARGE is too large for
// V8 to inline it, and has the rest of its line from causes.py.
const { Worker, isMainThread, workerData } = require('worker_threads');

let sink = 0, kept = null;
const door = new Int32Array(new SharedArrayBuffer(4));

function mix(x, rounds) { LARGE
  const n = rounds * (10 + 8 * PLANT_LEAF) / 10 | 0;
  for (let i = 0; i < n; i++)
    x = (Math.imul(x ^ x >>> 15, 0x9e3779b9) + i) | 0;
  return x;
}

function price(seed) { LARGE
  let sum = 0;
  for (let i = 0; i < 12000; i++) {
    seed = (Math.imul(seed, 1103515245) + 12345) | 0;
    sum += (seed >>> 8) / (1 + (seed & 1023));
  }
  return sum | 0;
}

function checksum(v) { LARGE
  let sum = 1;
  for (let again = 0; again < 10 + 8 * PLANT_SHARED; again++)
    for (let i = 0; i < v.length; i++)
      sum = (sum << 5 | sum >>> 27) ^ v[i];
  return sum;
}

function pack(v) { LARGE
  let out = checksum(v);
  for (let i = 0; i < v.length; i++)
    out = (out + Math.imul(v[i], out)) | 1;
  return out;
}

function verify(v) { LARGE
  let out = 0;
  for (let i = 0; i < 1 + 2 * PLANT_CALLER; i++)
    out += checksum(v);
  for (let i = 0; i < v.length; i++)
    out ^= v[i] / (out | 3);
  return out;
}

function letters(s) { LARGE
  let n = 0;
  for (let i = 0; i < s.length; i++)
    n += (s.charCodeAt(i) & 31) << (s.charCodeAt(i) & 7);
  return n;
}

function count(index, word) { LARGE
  const n = (index.get(word) || 0) + 1;
  index.set(word, n);
  return n;
}

function index_words(seed, index) { LARGE
  let sum = 0;
  for (let i = 0; i < 60; i++) {
    const word = `word${mix(seed, 2) % 97 + i}-of-the-index`;
    for (let k = 0; k < 1 + 3 * PLANT_SPREAD; k++)
      sum += count(index, word) + letters(word);
  }
  return sum;
}

function scale(v, by) { NOINLINE
  let sum = 0;
  for (let i = 0; i < 9; i++)
    for (let k = 0; k < v.length; k++)
      sum = (sum + (Math.imul(v[k], by) >>> 3 ^ sum >>> 5)) | 0;
  return sum;
}

function matrix(v) { LARGE
  let sum = scale(v, 77);
  for (let i = 0; i < v.length; i++)
    sum += v[i] % (sum | 1);
  return sum;
}

function parse(seed) { LARGE
  let sum = 0;
  for (let i = 0; i < 60; i++) {
    const text = (seed + i) + ',some field,another one';
    for (let k = 0; k < 4 * PLANT_ALLOC; k++)
      kept = new Array(40).fill(k);
    for (let k = 0; k < text.length; k++)
      sum = (Math.imul(sum, 31) + text.charCodeAt(k)) | 0;
  }
  return sum;
}

function push_order(queue, x) { LARGE
  for (let i = 0; i < 120; i++) {
    for (let k = 0; k < 4 * PLANT_LOCK; k++) {
      while (Atomics.compareExchange(door, 0, 0, 1))
        ;
      sink = x;
      Atomics.store(door, 0, 0);
    }
    queue[(x + i) & 63] ^= Math.imul(x, i);
    x = (Math.imul(x, 1664525) + 1013904223) | 0;
  }
  return x;
}

function sort_rows(from) { LARGE
  const v = from.slice();
  for (let i = 1; i < 160; i++)
    for (let k = i; k > 0 && v[k - 1] > v[k]; k--) {
      const x = v[k];
      v[k] = v[k - 1];
      v[k - 1] = x;
    }
  return v[7];
}

function rows() {
  return Int32Array.from({ length: 600 }, (_, i) => Math.imul(i, 0x9e3779b1));
}

function clerk(rounds) { LARGE
  const v = rows(), queue = new Int32Array(64), index = new Map();
  for (let i = 0; i < rounds; i++) {
    sink = index_words(i, index) + pack(v) + push_order(queue, i);
    sink = parse(i) + mix(i, 6000);
    if (!PLANT_MOVED)
      sink = sort_rows(v);
  }
}

function teller(rounds) { LARGE
  const v = rows();
  for (let i = 0; i < rounds; i++) {
    sink = price(i) + verify(v) + matrix(v);
    if (PLANT_MOVED)
      sink = sort_rows(v);
  }
}

if (isMainThread) {
  const rounds = Number(process.argv[2]);
  new Worker(__filename, { workerData: rounds });
  clerk(rounds);
} else {
  teller(workerData);
}
