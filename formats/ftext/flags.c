/* flags.c - the flags of a line, as letters, become bits of common_flags. */
#include "formats/ftext/line.h"

/* Bits of common_flags. */
#define BIT_IRQS_OFF 0x01
#define BIT_LAZY 0x02
#define BIT_RESCHED 0x04
#define BIT_HARDIRQ 0x08
#define BIT_SOFTIRQ 0x10
#define BIT_PREEMPT 0x20
#define BIT_NMI 0x40
#define BIT_BH_OFF 0x80

/* The bits of the letters that trace_print_lat_fmt() of Linux prints in the
 * first columns. Before 6.13 the bit of the lazy letters meant that the machine
 * does not tell whether interrupts are off. */
static uint8_t line_off_bits(char c)
{
	return c == 'd'	  ? BIT_IRQS_OFF
	       : c == 'D' ? BIT_IRQS_OFF | BIT_BH_OFF
	       : c == 'b' ? BIT_BH_OFF
			  : 0;
}

static uint8_t line_resched_bits(char c)
{
	switch (c) {
	case 'N':
		return BIT_RESCHED | BIT_PREEMPT;
	case 'n':
		return BIT_RESCHED;
	case 'p':
		return BIT_PREEMPT;
	case 'B':
		return BIT_RESCHED | BIT_PREEMPT | BIT_LAZY;
	case 'b':
		return BIT_RESCHED | BIT_LAZY;
	case 'L':
		return BIT_PREEMPT | BIT_LAZY;
	case 'l':
		return BIT_LAZY;
	default:
		return 0;
	}
}

static uint8_t line_interrupt_bits(char c)
{
	switch (c) {
	case 's':
		return BIT_SOFTIRQ;
	case 'h':
		return BIT_HARDIRQ;
	case 'H':
		return BIT_HARDIRQ | BIT_SOFTIRQ;
	case 'z':
		return BIT_NMI;
	case 'Z':
		return BIT_NMI | BIT_HARDIRQ;
	default:
		return 0;
	}
}

void line_set_flags(struct scan column, struct line *out)
{
	if (column.n < 3)
		return;
	out->has_flags = true;
	out->flags = line_off_bits(column.p[0]) |
		     line_resched_bits(column.p[1]) |
		     line_interrupt_bits(column.p[2]);
}
