/* whole-inner.c - walks the stack by unwind tables, or as the kernel does along
 * frame pointers, and prints it. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef ALONG_FRAME_POINTERS
#include <unwind.h>

static _Unwind_Reason_Code print_frame(struct _Unwind_Context *c, void *arg)
{
	(void)arg;
	if (_Unwind_GetIP(c))
		printf(" %lx", (unsigned long)_Unwind_GetIP(c));
	return _URC_NO_REASON;
}
#endif

static inline __attribute__((always_inline)) void print_frames(void)
{
#ifdef ALONG_FRAME_POINTERS
	uintptr_t *fp = __builtin_frame_address(0);

	while (fp) {
		uintptr_t up = fp[0];

		printf(" %lx", (unsigned long)fp[1]);
		fp = up > (uintptr_t)fp && up - (uintptr_t)fp < 65536 &&
				     !(up % 8)
			     ? (uintptr_t *)up
			     : NULL;
	}
#else
	_Unwind_Backtrace(print_frame, 0);
#endif
}

__attribute__((noinline)) void whole_leaf(void)
{
	printf("stack");
	print_frames();
	printf("\n");
}

__attribute__((noinline)) void whole_inner(void)
{
	whole_leaf();
	fflush(stdout);
}

void whole_maps(void)
{
	char line[1024];
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, " r-xp "))
			printf("map %s", line);
	if (f)
		fclose(f);
}
