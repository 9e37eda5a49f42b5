/* lines.h - a function that is inlined into the program of lines-*. */
static inline unsigned long mix(unsigned long x, unsigned long i)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x + i;
}
