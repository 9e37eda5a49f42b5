// script.js - what Node does to stacks: jitted code, callbacks from C++.
// usage: script.js SECONDS
"use strict";
const end = Date.now() + 1000 * Number(process.argv[2]);
const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2));
let sum = 0;
while (Date.now() < end) {
  const rows = [];
  for (let i = 0; i < 300; i++) rows.push({ n: i, text: ((i * 7919) % 257).toString(16) });
  rows.sort((a, b) => a.text.length - b.text.length || a.n - b.n);
  sum += JSON.stringify(JSON.parse(JSON.stringify(rows))).replace(/(a|b)+/g, (m) => m + m).length;
  sum += fib(16);
}
process.exitCode = sum === 1 ? 1 : 0;
