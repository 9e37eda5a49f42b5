/* frame_code.c - decodes whether code sets the frame pointer, and how functions
 * end. */
#include "symbolize/disasm/frame_code.h"

#include <elf.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "symbolize/disasm/code_refs.h"

/* The effect of an instruction on SP and FP. */
enum frame_step {
	STEP_OTHER,
	STEP_SP,      /* SP += by */
	STEP_SAVE,    /* FP is stored at SP + by */
	STEP_PUSH,    /* FP is pushed */
	STEP_SET,     /* FP = SP + by */
	STEP_ENTER,   /* FP is pushed and becomes SP; then SP += by */
	STEP_RESTORE, /* FP is loaded from SP + by */
	STEP_POP,     /* FP is popped */
	STEP_LEAVE,   /* SP = FP, and FP is popped */
	STEP_JUMP,
	STEP_RETURN,
	STEP_CALL,
	STEP_AWAY, /* SP = another value */
	STEP_END,  /* SP is unknown, or the bytes are not code */
};

struct frame_insn {
	enum frame_step step;
	int64_t by;
};

/* ---- x86-64 */

#define X86_SP 4
#define X86_FP 5

/* An instruction in parts. */
struct x86_insn {
	unsigned int rex, op;
	unsigned int map;	   /* 0: opcodes of one byte; 1: after 0f */
	bool narrow;		   /* operands of 16 bits */
	unsigned int mod, reg, rm; /* with the bits of REX */
	bool on_sp;		   /* memory at SP + disp */
	int64_t disp, imm;
};

/* Reads n bytes as a signed number. */
static bool x86_number(struct bytes *b, size_t n, int64_t *out)
{
	uint64_t v = 0;
	uint8_t c = 0;

	for (size_t i = 0; i < n; i++) {
		if (bytes_u8(b, &c, NULL))
			return false;
		v |= (uint64_t)c << 8 * i;
	}
	if (n < 8 && c & 0x80)
		v |= UINT64_MAX << 8 * n;
	*out = (int64_t)v;
	return true;
}

static bool x86_has_modrm(const struct x86_insn *in)
{
	unsigned int op = in->op;

	if (in->map > 1)
		return true;
	if (in->map)
		return !(op == 0x05 || op == 0x06 || op == 0x08 || op == 0x09 ||
			 op == 0x0b || op == 0x77 || op == 0xa2 ||
			 (op & 0xf0) == 0x30 || (op & 0xf0) == 0x80 ||
			 (op & 0xf6) == 0xa0 || (op & 0xf8) == 0xc8);
	if (op < 0x40)
		return (op & 7) < 4;
	return op == 0x63 || op == 0x69 || op == 0x6b || (op & 0xf0) == 0x80 ||
	       (op & 0xfe) == 0xc0 || (op & 0xfe) == 0xc6 ||
	       (op & 0xfc) == 0xd0 || (op & 0xf8) == 0xd8 ||
	       (op & 0xf6) == 0xf6;
}

/* Returns the number of immediate bytes of an instruction. */
static size_t x86_imm(const struct x86_insn *in)
{
	unsigned int op = in->op;
	size_t full = in->narrow ? 2 : 4;

	if (in->map > 1)
		return in->map == 3;
	if (in->map) {
		if ((op & 0xf0) == 0x80)
			return 4;
		return (op >= 0x70 && op <= 0x73) || (op & 0xf7) == 0xa4 ||
		       op == 0xba || op == 0xc2 || (op >= 0xc4 && op <= 0xc6);
	}
	if (op < 0x40)
		return (op & 7) == 4 ? 1 : (op & 7) == 5 ? full : 0;
	switch (op) {
	case 0x6a:
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xa8:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xcd:
	case 0xeb:
		return 1;
	case 0x68:
	case 0x69:
	case 0x81:
	case 0xa9:
	case 0xc7:
		return full;
	case 0xe8:
	case 0xe9:
		return 4;
	case 0xc2:
	case 0xca:
		return 2;
	case 0xc8:
		return 3;
	case 0xf6:
		return (in->reg & 7) < 2;
	case 0xf7:
		return (in->reg & 7) < 2 ? full : 0;
	default:
		break;
	}
	if (op >= 0xa0 && op <= 0xa3)
		return 8;
	if (op >= 0xb8 && op <= 0xbf)
		return in->rex & 8 ? 8 : full;
	return (op & 0xf0) == 0x70 || (op & 0xf8) == 0xb0 ||
	       (op & 0xf8) == 0xe0;
}

/* Reads prefixes and opcode. Returns false if the bytes end before. */
static bool x86_read_opcode(struct bytes *b, struct x86_insn *in)
{
	size_t more = 0;
	uint8_t c;

	do {
		if (bytes_u8(b, &c, NULL))
			return false;
		in->narrow |= c == 0x66;
	} while ((c & 0xe7) == 0x26 || (c & 0xfc) == 0x64 || c == 0xf0 ||
		 c == 0xf2 || c == 0xf3);
	if ((c & 0xf0) == 0x40) {
		in->rex = c & 15;
		if (bytes_u8(b, &c, NULL))
			return false;
	}
	in->op = c;
	if (c == 0x0f || c == 0xc5) {
		in->map = 1;
		more = c == 0xc5;	     /* VEX */
	} else if (c == 0xc4 || c == 0x62) { /* VEX and EVEX */
		if (bytes_u8(b, &c, NULL))
			return false;
		in->map = c & 7;
		more = in->op == 0xc4 ? 1 : 2;
	} else {
		return true;
	}
	for (size_t i = 0; i <= more; i++)
		if (bytes_u8(b, &c, NULL))
			return false;
	if (in->op == 0x0f && (c == 0x38 || c == 0x3a)) {
		in->map = c == 0x38 ? 2 : 3;
		if (bytes_u8(b, &c, NULL))
			return false;
	}
	in->op = c;
	return true;
}

static bool x86_read_modrm(struct bytes *b, struct x86_insn *in)
{
	size_t disp = 0;
	uint8_t c, sib = 0;

	if (bytes_u8(b, &c, NULL))
		return false;
	in->mod = c >> 6;
	in->reg = (c >> 3 & 7) | (in->rex & 4) << 1;
	in->rm = (c & 7) | (in->rex & 1) << 3;
	if (in->mod == 3)
		return true;
	if ((c & 7) == X86_SP) {
		if (bytes_u8(b, &sib, NULL))
			return false;
		/* base SP, no index */
		in->on_sp = (sib & 0x3f) == 0x24 && !(in->rex & 3);
	}
	if (in->mod)
		disp = in->mod == 1 ? 1 : 4;
	else if ((c & 7) == 5 || ((c & 7) == X86_SP && (sib & 7) == 5))
		disp = 4;
	return x86_number(b, disp, &in->disp);
}

/* Returns the step of an opcode whose operands are in the ModRM byte. */
static struct frame_insn x86_step_modrm(const struct x86_insn *in)
{
	bool wide = in->rex & 8;
	bool to_sp = in->mod == 3 && in->rm == X86_SP;

	/* add, or, ..., xor: by an unknown value */
	if (in->op < 0x38 && (in->op & 2 ? in->reg == X86_SP : to_sp))
		return (struct frame_insn){ STEP_END, 0 };
	switch (in->op) {
	case 0x81:
	case 0x83:
		if (!to_sp || (in->reg & 7) == 7) /* cmp */
			break;
		if ((in->reg & 7) == 0)
			return (struct frame_insn){ STEP_SP, in->imm };
		if ((in->reg & 7) == 5)
			return (struct frame_insn){ STEP_SP, -in->imm };
		return (struct frame_insn){ STEP_END, 0 };
	case 0x87:
		if (to_sp || in->reg == X86_SP)
			return (struct frame_insn){ STEP_AWAY, 0 };
		break;
	case 0x89:
		if (to_sp)
			return (struct frame_insn){ STEP_AWAY, 0 };
		if (in->mod == 3 && in->reg == X86_SP && in->rm == X86_FP)
			return (struct frame_insn){ STEP_SET, 0 };
		if (wide && in->on_sp && in->reg == X86_FP)
			return (struct frame_insn){ STEP_SAVE, in->disp };
		break;
	case 0x8b:
	case 0x8d:
		if (in->reg == X86_SP && in->on_sp && in->op == 0x8d)
			return (struct frame_insn){ STEP_SP, in->disp };
		if (in->reg == X86_SP)
			return (struct frame_insn){ STEP_AWAY, 0 };
		if (in->reg != X86_FP || !wide)
			break;
		if (in->mod == 3 && in->rm == X86_SP)
			return (struct frame_insn){ STEP_SET, 0 };
		if (in->on_sp)
			return (struct frame_insn){ in->op == 0x8d
							    ? STEP_SET
							    : STEP_RESTORE,
						    in->disp };
		break;
	case 0x8f:
		return (struct frame_insn){ STEP_SP, 8 };
	case 0xff:
		if ((in->reg & 7) == 6)
			return (struct frame_insn){ STEP_SP, -8 };
		if ((in->reg & 7) == 4)
			return (struct frame_insn){ STEP_JUMP, 0 };
		if ((in->reg & 7) == 2)
			return (struct frame_insn){ STEP_CALL, 0 };
		if ((in->reg & 7) > 1)
			return (struct frame_insn){ STEP_END, 0 };
		break;
	default:
		break;
	}
	return (struct frame_insn){ STEP_OTHER, 0 };
}

static struct frame_insn x86_step(const struct x86_insn *in)
{
	unsigned int reg = (in->op & 7) | (in->rex & 1) << 3;

	if (in->map == 1 && in->op == 0x0b) /* ud2 */
		return (struct frame_insn){ STEP_END, 0 };
	if (in->map)
		return (struct frame_insn){ STEP_OTHER, 0 };
	/* pop, and xchg with RAX */
	if ((in->op == 0x5c || in->op == 0x94) && reg == X86_SP)
		return (struct frame_insn){ STEP_AWAY, 0 };
	if (in->op >= 0x50 && in->op <= 0x57)
		return (struct frame_insn){ reg == X86_FP ? STEP_PUSH : STEP_SP,
					    -8 };
	if (in->op >= 0x58 && in->op <= 0x5f)
		return (struct frame_insn){ reg == X86_FP ? STEP_POP : STEP_SP,
					    8 };
	switch (in->op) {
	case 0x68:
	case 0x6a:
	case 0x9c:
		return (struct frame_insn){ STEP_SP, -8 };
	case 0x9d:
		return (struct frame_insn){ STEP_SP, 8 };
	case 0xc2:
	case 0xc3:
		return (struct frame_insn){ STEP_RETURN, 0 };
	case 0xc8:
		if (in->imm >> 16)
			break; /* enter with a level copies frames of outer
				  functions */
		return (struct frame_insn){ STEP_ENTER, -(in->imm & 0xffff) };
	case 0xc9:
		return (struct frame_insn){ STEP_LEAVE, 0 };
	case 0xe8:
		return (struct frame_insn){ STEP_CALL, 0 };
	case 0xcb: /* far returns, and those of interrupts */
	case 0xcf:
	case 0xcc: /* int3 between functions */
	case 0xf4:
		return (struct frame_insn){ STEP_END, 0 };
	case 0xe9:
	case 0xeb:
		return (struct frame_insn){ STEP_JUMP, 0 };
	default:
		return x86_step_modrm(in);
	}
	return (struct frame_insn){ STEP_END, 0 };
}

/* Returns false if none of these bytes can set FP: then they need not be
 * decoded, which takes 200 times as long. */
static bool x86_may_set(const unsigned char *code, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned int modrm = i + 1 < n ? code[i + 1] : 0;

		switch (code[i]) {
		case 0x89:
			if (modrm == 0xe5)
				return true;
			break;
		case 0x8b:
			if (modrm == 0xec)
				return true;
			break;
		case 0x8d:
			if ((modrm & 0x3f) == 0x2c)
				return true;
			break;
		case 0xc8:
			return true;
		default:
			break;
		}
	}
	return false;
}

/* ---- AArch64 */

#define A64_FP 29u
#define A64_SP 31u

static struct frame_insn a64_next(struct bytes *b)
{
	uint32_t w;

	if (bytes_u32(b, &w, NULL))
		return (struct frame_insn){ STEP_END, 0 };

	unsigned int rd = w & 31;
	unsigned int rn = w >> 5 & 31;
	unsigned int rt2 = w >> 10 & 31;
	int64_t imm = w >> 10 & 0xfff;

	/* add and sub with a constant */
	if ((w & 0xbf800000) == 0x91000000) {
		if (w & 1u << 22)
			imm <<= 12;
		if (w & 1u << 30)
			imm = -imm;
		if (rd == A64_FP && rn == A64_SP)
			return (struct frame_insn){ STEP_SET, imm };
		if (rd == A64_SP)
			return (struct frame_insn){ STEP_SP, imm };
	}
	/* add sp, sp, xN: large frames of Go */
	if ((w & 0xffe003ff) == 0x8b2003ff)
		return (struct frame_insn){ STEP_SP, 0 };
	/* ldp of registers of 64 bits: of offset, before and after */
	if ((w & 0xfe400000) == 0xa8400000 && rn == A64_SP)
		return (struct frame_insn){ rd == A64_FP || rt2 == A64_FP
						    ? STEP_RESTORE
						    : STEP_SP,
					    0 };
	/* ldr and ldur of 64 bits */
	if (((w & 0xffe00000) == 0xf8400000 ||
	     (w & 0xffc00000) == 0xf9400000) &&
	    rn == A64_SP && rd == A64_FP)
		return (struct frame_insn){ STEP_RESTORE, 0 };
	/* ret, retaa, retab */
	if ((w & 0xfffffc1f) == 0xd65f0000 || (w & 0xfffffbff) == 0xd65f0bff)
		return (struct frame_insn){ STEP_RETURN, 0 };
	/* b, br */
	if (w >> 26 == 5 || (w & 0xfffffc1f) == 0xd61f0000)
		return (struct frame_insn){ STEP_JUMP, 0 };
	/* bl, blr, and bytes that are no instruction */
	if (w >> 26 == 0x25 || (w & 0xfffffc1f) == 0xd63f0000 || !(w >> 16))
		return (struct frame_insn){ STEP_END, 0 };
	return (struct frame_insn){ STEP_OTHER, 0 };
}

/* ---- both */

static struct frame_insn frame_code_next(uint16_t machine, struct bytes *b)
{
	if (machine != EM_X86_64)
		return a64_next(b);
	struct x86_insn in = { 0 };

	if (!x86_read_opcode(b, &in) ||
	    (x86_has_modrm(&in) && !x86_read_modrm(b, &in)) ||
	    !x86_number(b, x86_imm(&in), &in.imm))
		return (struct frame_insn){ STEP_END, 0 };
	return x86_step(&in);
}

bool frame_code_sets(uint16_t machine, const unsigned char *code, size_t n)
{
	int64_t sp = 8;	   /* bytes from SP to the CFA */
	int64_t saved = 0; /* bytes from the saved FP to the CFA */
	struct bytes b;

	if (machine == EM_X86_64 && !x86_may_set(code, n))
		return false;
	bytes_init(&b, code, n, "", 0, bytes_must_swap(false));
	while (bytes_left(&b)) {
		struct frame_insn in = frame_code_next(machine, &b);

		switch (in.step) {
		case STEP_OTHER:
		case STEP_RESTORE:
		case STEP_POP:
		case STEP_LEAVE:
			break;
		case STEP_SP:
			sp -= in.by;
			break;
		case STEP_PUSH:
			saved = sp += 8;
			break;
		case STEP_SAVE:
			saved = sp - in.by;
			break;
		case STEP_SET:
			/* on AArch64 the unwind table has both places */
			return machine == EM_AARCH64 ||
			       (saved == 16 && sp - in.by == saved);
		case STEP_ENTER:
			return sp == 8;
		default:
			return false;
		}
	}
	return false;
}

/* A function that has set FP must restore it before it returns: if no restoring
 * instruction follows, it was before this place. */
bool frame_code_leaves(uint16_t machine, const unsigned char *code, size_t n)
{
	bool moved = false;
	struct bytes b;

	bytes_init(&b, code, n, "", 0, bytes_must_swap(false));
	while (bytes_left(&b)) {
		struct frame_insn in = frame_code_next(machine, &b);

		switch (in.step) {
		case STEP_OTHER:
			break;
		case STEP_SP:
			if (in.by < 0) /* still in the prologue */
				return false;
			moved = true;
			break;
		case STEP_RETURN:
			return true;
		case STEP_JUMP: /* to another function, or in a loop */
			return moved;
		default:
			return false;
		}
	}
	return false;
}

enum frame_code_end frame_code_ends(uint16_t machine, const unsigned char *code,
				    size_t n, int64_t *cfa, int64_t *fp)
{
	int64_t sp = 0; /* bytes above SP as it is now */
	struct bytes b;

	*fp = FRAME_CODE_KEPT;
	bytes_init(&b, code, n, "", 0, bytes_must_swap(false));
	while (machine == EM_X86_64 && bytes_left(&b)) {
		struct frame_insn in = frame_code_next(machine, &b);

		switch (in.step) {
		case STEP_OTHER:
		case STEP_SAVE:
		case STEP_SET:
		case STEP_CALL:
			break;
		case STEP_SP:
			sp += in.by;
			break;
		case STEP_PUSH:
			sp -= 8;
			break;
		/* below SP is what these instructions have pushed */
		case STEP_POP:
			*fp = sp >= 0 ? sp : FRAME_CODE_KEPT;
			sp += 8;
			break;
		case STEP_RESTORE:
			*fp = sp + in.by >= 0 ? sp + in.by : FRAME_CODE_KEPT;
			break;
		case STEP_JUMP:
		case STEP_RETURN:
			*cfa = sp + 8;
			return (in.step == STEP_JUMP ? !sp : sp >= 0)
				       ? FRAME_CODE_RETURNS
				       : FRAME_CODE_UNKNOWN;
		case STEP_AWAY:
			return FRAME_CODE_SWITCHES;
		default:
			return FRAME_CODE_UNKNOWN;
		}
	}
	return FRAME_CODE_UNKNOWN;
}

/* mov N(%reg),%rsp or, with FP, %rbp: bytes 2 of these instructions. */
#define LOAD_SP 0x60
#define LOAD_FP 0x68

static bool x86_loads(const unsigned char code[static 3], unsigned int what)
{
	return (code[0] == 0x48 || code[0] == 0x49) && code[1] == 0x8b &&
	       (code[2] & 0xf8u) == what;
}

bool frame_code_loads(uint16_t machine, const unsigned char *code, size_t n)
{
	return machine == EM_X86_64 &&
	       any_where(n > 3 ? n - 3 : 0, i, x86_loads(code + i, LOAD_SP));
}

bool frame_code_leaps(uint16_t machine, const unsigned char *code,
		      size_t before, size_t n)
{
	if (machine != EM_X86_64 || n < before + FRAME_CODE_LEAP_BEHIND)
		return false;
	/* a nop since Go 1.23 */
	const unsigned char *to = code + before + (code[before] == 0x90);

	return to[0] == 0x58 && (to[1] == 0xe9 || to[1] == 0xeb) &&
	       frame_code_loads(machine, code, before);
}

bool frame_code_lands(uint16_t machine, const unsigned char *code, size_t n)
{
	if (machine != EM_X86_64 || n < 13 || code[n - 5] != 0xe8)
		return false;
	/* FP is loaded, too, since Go 1.23 */
	return x86_loads(code + n - 9, LOAD_SP) ||
	       (x86_loads(code + n - 9, LOAD_FP) &&
		x86_loads(code + n - 13, LOAD_SP));
}

/* ---- exits */

/* The ways to put 60, exit, or 231, exit_group, into eax up to the number, and
 * to set the status; from musl 1.2, Go 1.19 and programs without a C
 * library. */
static const struct frame_exit {
	unsigned char code[3];
	uint8_t n, rest; /* bytes of code, and of the operand that follows */
	bool number;
} frame_exits[] = {
	{ { 0xb8 }, 1, 3, true },	      /* mov $N,%eax */
	{ { 0x48, 0xc7, 0xc0 }, 3, 3, true }, /* mov $N,%rax */
	{ { 0xb0 }, 1, 0, true },	      /* mov $N,%al */
	{ { 0x6a }, 1, 1, true },	      /* push $N; pop %rax */
	{ { 0xbf }, 1, 4, false },	      /* mov $STATUS,%edi */
	{ { 0x48, 0xc7, 0xc7 }, 3, 4, false },
	{ { 0x89, 0xc7 }, 2, 0, false }, /* mov %eax,%edi */
	{ { 0x48, 0x89, 0xc7 }, 3, 0, false },
	{ { 0x31, 0xff }, 2, 0, false }, /* xor %edi,%edi */
	{ { 0x48, 0x31, 0xff }, 3, 0, false },
	{ { 0x31, 0xc0 }, 2, 0, false }, /* xor %eax,%eax */
	{ { 0x90 }, 1, 0, false },
};

static bool frame_code_exits_x86(const unsigned char *code, size_t n)
{
	bool number = false;
	size_t i = 0;

	while (n - i >= 2 && (code[i] != 0x0f || code[i + 1] != 0x05)) {
		const struct frame_exit *e = NULL;

		for (size_t k = 0; k < ARRAY_SIZE(frame_exits); k++)
			if (n - i >= frame_exits[k].n &&
			    !memcmp(code + i, frame_exits[k].code,
				    frame_exits[k].n))
				e = &frame_exits[k];
		if (!e || n - i <= (size_t)e->n + e->rest)
			return false;
		i += e->n;
		if (e->number && code[i] != 60 && code[i] != 231)
			return false;
		number |= e->number;
		i += (size_t)e->number + e->rest;
	}
	return number && n - i >= 2;
}

static bool frame_code_exits_aarch64(const unsigned char *code, size_t n)
{
	bool number = false;

	for (size_t i = 0; n - i >= 4; i += 4) {
		uint32_t w = code_refs_word(code + i);

		if (w == 0xd4000001) /* svc #0 */
			return number;
		/* mov w8, #93 or #94: exit, exit_group */
		if ((w & 0x7fffffff) == 0x52800ba8 ||
		    (w & 0x7fffffff) == 0x52800bc8)
			number = true;
		else if ((w & 0x7f80001f) != 0x52800000) /* mov w0, #N */
			return false;
	}
	return false;
}

bool frame_code_exits(uint16_t machine, const unsigned char *code, size_t n)
{
	return machine == EM_X86_64    ? frame_code_exits_x86(code, n)
	       : machine == EM_AARCH64 ? frame_code_exits_aarch64(code, n)
				       : false;
}

bool frame_code_hands_on(uint16_t machine, const unsigned char *code, size_t n)
{
	if (machine == EM_AARCH64)
		return n >= 4 && code[3] >> 2 == 0x25; /* bl */
	/* mov %eax,%edi or mov %rax,%rdi; call */
	return machine == EM_X86_64 &&
	       ((n >= 3 && !memcmp(code, "\x89\xc7\xe8", 3)) ||
		(n >= 4 && !memcmp(code, "\x48\x89\xc7\xe8", 4)));
}
