// cgo.go - Go that calls C, which runs on a stack of its own.
// usage: cgo SECONDS [STEPS]: of C in each round, beside which a thousand numbers are
// sorted in Go
package main

/*
#cgo LDFLAGS: -lm
#include <math.h>
#include <stdlib.h>
static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}
__attribute__((noinline)) static double sum(double x, int n)
{
	int v[500];
	for (int i = 0; i < n; i++)
		x = sqrt(x * 1.0001 + i);
	for (int i = 0; i < 500; i++)
		v[i] = i * 7919 % 10007;
	qsort(v, 500, sizeof(v[0]), compare);
	return x + v[7];
}
double work(double x, int n) { return sum(x, n) + 1; }
*/
import "C"

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"time"
)

//go:noinline
func native(n int) float64 { return float64(C.work(3, C.int(n))) + 1 }

//go:noinline
func own(n int) float64 {
	a := make([]int, n)
	for i := range a {
		a[i] = i * 7919 % 100003
	}
	sort.Ints(a)
	return float64(a[3])
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	steps := 3000
	if len(os.Args) > 2 {
		steps, _ = strconv.Atoi(os.Args[2])
	}
	sum := 0.0
	end := time.Now().Add(time.Duration(seconds * 1e9))
	for time.Now().Before(end) {
		sum += native(steps) + own(1000)
	}
	fmt.Fprintln(os.Stderr, sum)
}
