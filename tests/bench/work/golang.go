// golang.go - what Go does to stacks: goroutines that move theirs, defer and
// recover, maps, interfaces, closures, a garbage collector.
// usage: golang SECONDS
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

type visitor interface{ visit(depth int) int }
type leaf int
type node []visitor

func (l leaf) visit(depth int) int { return int(l) + depth }

func (n node) visit(depth int) int {
	sum := 0
	for _, v := range n {
		sum += v.visit(depth + 1)
	}
	return sum
}

func tree(depth int) visitor {
	if depth == 0 {
		return leaf(3)
	}
	return node{tree(depth - 1), tree(depth - 1), tree(depth - 1)}
}

//go:noinline
func panics(n int) int {
	var held [64]int
	held[n%64] = n
	if n > 30 {
		panic("deep")
	}
	return panics(n+1) + held[3]
}

func recovered(n int) (got int) {
	defer func() {
		if r := recover(); r != nil {
			got = len(r.(string))
		}
	}()
	return panics(n)
}

func words() int {
	count := map[string]int{}
	for i := 0; i < 400; i++ {
		count[fmt.Sprintf("%x", i*7919%257)]++
	}
	all := make([]string, 0, len(count))
	for w := range count {
		all = append(all, w)
	}
	sort.Slice(all, func(a, b int) bool { return all[a] < all[b] })
	return len(strings.Join(all, ","))
}

func work(end time.Time, done chan<- int) {
	root := tree(6)
	sum := 0
	for time.Now().Before(end) {
		for i := 0; i < 20; i++ {
			sum += recovered(i % 6)
		}
		sum += words() + root.visit(0)
	}
	done <- sum
}

func main() {
	seconds := 1.0
	if len(os.Args) > 1 {
		seconds, _ = strconv.ParseFloat(os.Args[1], 64)
	}
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	done := make(chan int)
	for i := 0; i < 3; i++ {
		go work(end, done)
	}
	for i := 0; i < 3; i++ {
		<-done
	}
}
