// orders.go - orders.cc in Go, with its map.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

var sink uint64
var door sync.Mutex
var kept []byte

//go:noinline
func mix(x, rounds uint64) uint64 {
	for i := uint64(0); i < rounds*(10+8*PLANT_LEAF)/10; i++ {
		x = (x^(x>>31))*0x9e3779b97f4a7c15 + i
	}
	return x
}

//go:noinline
func price(seed uint64) uint64 {
	sum := 0.0
	for i := 0; i < 12000; i++ {
		seed = seed*6364136223846793005 + 1
		sum += float64(seed>>40) / (1.0 + float64(seed&1023))
	}
	return uint64(sum)
}

//go:noinline
func checksum(v []uint32) uint64 {
	sum := uint64(1)
	for again := 0; again < 10+8*PLANT_SHARED; again++ {
		for _, x := range v {
			sum = (sum<<5 | sum>>59) ^ uint64(x)
		}
	}
	return sum
}

//go:noinline
func pack(v []uint32) uint64 {
	out := checksum(v)
	for _, x := range v {
		out += uint64(x)*out | 1
	}
	return out
}

//go:noinline
func verify(v []uint32) uint64 {
	out := uint64(0)
	for i := 0; i < 1+2*PLANT_CALLER; i++ {
		out += checksum(v)
	}
	for _, x := range v {
		out ^= uint64(x) / (out | 3)
	}
	return out
}

//go:noinline
func indexWords(seed uint64, index map[string]int) uint64 {
	sum := uint64(0)
	for i := uint64(0); i < 30; i++ {
		word := fmt.Sprintf("word%d-of-the-index", mix(seed, 2)%97+i)
		for k := 0; k < 1+3*PLANT_SPREAD; k++ {
			index[word] += k
			sum += uint64(len(strconv.Quote(word)))
		}
	}
	return sum
}

NOINLINE
func scale(v []uint32, by uint64) uint64 {
	sum, i := uint64(0), 0
again:
	for _, x := range v {
		sum += (uint64(x)*by)>>3 ^ sum>>5
	}
	if i++; i < 9 {
		goto again
	}
	return sum
}

//go:noinline
func matrix(v []uint32) uint64 {
	sum := scale(v, 77)
	for _, x := range v {
		sum += uint64(x) % (sum | 1)
	}
	return sum
}

//go:noinline
func parse(seed uint64) uint64 {
	sum := uint64(0)
	for i := uint64(0); i < 40; i++ {
		text := strconv.FormatUint(seed+i, 10) + ",some field,another one"
		for k := 0; k < 3*PLANT_ALLOC; k++ {
			kept = append([]byte(nil), text...)
		}
		for _, c := range text {
			sum = sum*31 + uint64(c)
		}
	}
	return sum
}

//go:noinline
func pushOrder(queue []uint64, x uint64) uint64 {
	for i := uint64(0); i < 120; i++ {
		for k := 0; k < 4*PLANT_LOCK; k++ {
			door.Lock()
			sink = x
			door.Unlock()
		}
		queue[(x+i)%64] ^= x * i
		x = x*2862933555777941757 + 3037000493
	}
	return x
}

//go:noinline
func sortRows(from []uint32) uint64 {
	v := append([]uint32(nil), from...)
	for i := 1; i < 160; i++ {
		for k := i; k > 0 && v[k-1] > v[k]; k-- {
			v[k-1], v[k] = v[k], v[k-1]
		}
	}
	return uint64(v[7])
}

func rows() []uint32 {
	v := make([]uint32, 600)
	for i := range v {
		v[i] = uint32(i) * 2654435761
	}
	return v
}

//go:noinline
func clerk(rounds uint64) {
	v, queue, index := rows(), make([]uint64, 64), map[string]int{}
	for i := uint64(0); i < rounds; i++ {
		sink = indexWords(i, index) + pack(v) + pushOrder(queue, i)
		sink = parse(i) + mix(i, 4000)
		if PLANT_MOVED == 0 {
			sink = sortRows(v)
		}
	}
}

//go:noinline
func teller(rounds uint64) {
	v := rows()
	for i := uint64(0); i < rounds; i++ {
		sink = price(i) + verify(v) + matrix(v)
		if PLANT_MOVED == 1 {
			sink = sortRows(v)
		}
	}
}

func main() {
	rounds := uint64(1)
	if len(os.Args) > 1 {
		rounds, _ = strconv.ParseUint(os.Args[1], 10, 64)
	}
	var both sync.WaitGroup
	both.Add(2)
	go func() { clerk(rounds); both.Done() }()
	go func() { teller(rounds); both.Done() }()
	both.Wait()
}
