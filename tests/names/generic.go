package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
)

type Number interface{ ~int | ~float64 }
type Tree[K comparable, V Number] struct {
	left, right *Tree[K, V]
	key         K
	val         V
}
type Shape interface{ Area() float64 }
type Circle struct{ r float64 }
type Square struct{ a float64 }

func (c *Circle) Area() float64 { s := 0.0; for i := 0; i < 300; i++ { s += c.r * float64(i) }; return s }
func (q Square) Area() float64  { s := 0.0; for i := 0; i < 300; i++ { s += q.a / float64(i+1) }; return s }

//go:noinline
func Map[K comparable, V Number](in []V, f func(V) K) map[K]V { m := map[K]V{}; for _, v := range in { m[f(v)] += v }; return m }

func (t *Tree[K, V]) Walk(f func(K, V)) { if t == nil { return }; t.left.Walk(f); f(t.key, t.val); t.right.Walk(f) }
func build(n int) *Tree[string, int] {
	if n == 0 { return nil }
	return &Tree[string, int]{build(n / 2), build(n / 2), fmt.Sprint("k", n), n}
}
func main() {
	var wg sync.WaitGroup
	for w := 0; w < 3; w++ {
		wg.Add(1)
		go func(w int) {
			defer wg.Done()
			for r := 0; r < 150; r++ {
				in := make([]int, 3000)
				for i := range in { in[i] = i * 7 % 997 }
				m := Map(in, func(v int) string { return strings.Repeat("x", v%7) + fmt.Sprint(v) })
				keys := make([]string, 0, len(m))
				for k := range m { keys = append(keys, k) }
				sort.Slice(keys, func(a, b int) bool { return keys[a] < keys[b] })
				n := 0
				build(100).Walk(func(k string, v int) { n += v })
				for i := 0; i < 50; i++ { var s Shape = &Circle{float64(i)}; if i%2 == 0 { s = Square{float64(i)} }; n += int(s.Area()) }
				if n < 0 { fmt.Fprintln(os.Stderr, n) }
			}
		}(w)
	}
	wg.Wait()
}
