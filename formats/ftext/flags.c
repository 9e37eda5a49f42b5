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

/* By column and letter, as trace_print_lat_fmt() of Linux prints them. Before
 * 6.13 the bit of the lazy letters meant that the machine does not tell whether
 * interrupts are off. */
static const uint8_t flag_bits[3][256] = {
	{
		['d'] = BIT_IRQS_OFF,
		['D'] = BIT_IRQS_OFF | BIT_BH_OFF,
		['b'] = BIT_BH_OFF,
	},
	{
		['N'] = BIT_RESCHED | BIT_PREEMPT,
		['n'] = BIT_RESCHED,
		['p'] = BIT_PREEMPT,
		['B'] = BIT_RESCHED | BIT_PREEMPT | BIT_LAZY,
		['b'] = BIT_RESCHED | BIT_LAZY,
		['L'] = BIT_PREEMPT | BIT_LAZY,
		['l'] = BIT_LAZY,
	},
	{
		['s'] = BIT_SOFTIRQ,
		['h'] = BIT_HARDIRQ,
		['H'] = BIT_HARDIRQ | BIT_SOFTIRQ,
		['z'] = BIT_NMI,
		['Z'] = BIT_NMI | BIT_HARDIRQ,
	},
};

void line_set_flags(struct scan column, struct line *out)
{
	if (column.n < 3)
		return;
	out->has_flags = true;
	out->flags = flag_bits[0][(uint8_t)column.p[0]] |
		     flag_bits[1][(uint8_t)column.p[1]] |
		     flag_bits[2][(uint8_t)column.p[2]];
}
