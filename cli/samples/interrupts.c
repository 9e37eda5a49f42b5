/* interrupts.c - which functions of the kernel an interrupt enters by. */
#include "cli/samples/interrupts.h"

#include <string.h>

#include "stitch/base/mem.h"

bool interrupts_enter(const char *name)
{
	/* Names begin like this. x86 since Linux 5.8, before that, AArch64 and
	 * s390x; a page fault is what the thread did, and is not among them. */
	static const char *const begin[] = {
		"asm_sysvec_",
		"asm_common_interrupt",
		"asm_spurious_interrupt",
		"sysvec_",
		"common_interrupt",
		"fred_extint",
		"apic_timer_interrupt",
		"smp_apic_timer_interrupt",
		"reschedule_interrupt",
		"ret_from_intr",
		"do_IRQ",
		"el0_irq",
		"el1_irq",
		"el0t_64_irq",
		"el0t_32_irq",
		"el1h_64_irq",
		"el0_interrupt",
		"el1_interrupt",
		"io_int_handler",
		"ext_int_handler",
		"do_io_irq",
		"do_ext_irq",
	};

	for (size_t i = 0; i < ARRAY_SIZE(begin); i++)
		if (!strncmp(name, begin[i], strlen(begin[i])))
			return true;
	return false;
}
