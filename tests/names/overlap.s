# overlap.s - functions inlined at addresses of which siblings have the same ones.
	.text
	.file 1 "overlap.c"
	.globl outer
	.type outer, @function
outer:
	.loc 1 1
	.rept 4
	nop
	.endr
.L4:	.rept 2
	nop
	.endr
.L6:	.loc 1 2
	.rept 4
	nop
	.endr
.L10:	.rept 2
	nop
	.endr
.L12:	.loc 1 3
	.rept 2
	nop
	.endr
.L14:	.rept 2
	nop
	.endr
.L16:	.loc 1 4
	.rept 2
	nop
	.endr
.L18:	.rept 6
	nop
	.endr
.L24:	ret
.Lend:
	.size outer, .Lend-outer

	.section .debug_abbrev, "", @progbits
.Labbrev:
	.macro abbrev number, tag, children, pairs:vararg
	.uleb128 \number, \tag
	.byte \children
	.uleb128 \pairs
	.byte 0, 0
	.endm
	# unit: name, stmt_list, low_pc, high_pc
	abbrev 1, 0x11, 1, 0x03, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07
	# function: name, low_pc, high_pc
	abbrev 2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07
	# function that is inlined: name, inline
	abbrev 3, 0x2e, 0, 0x03, 0x08, 0x20, 0x0b
	# block: low_pc, high_pc
	abbrev 4, 0x0b, 1, 0x11, 0x01, 0x12, 0x07
	# inlined here: abstract_origin, low_pc, high_pc, call_file, call_line
	abbrev 5, 0x1d, 0, 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0x58, 0x0b, 0x59, 0x0b
	# block: ranges
	abbrev 6, 0x0b, 1, 0x55, 0x17
	.byte 0

	.macro inlined from, to, what, line
	.uleb128 5
	.long \what-.Linfo
	.quad \from, \to-\from
	.byte 1, \line
	.endm

	.section .debug_info, "", @progbits
.Linfo:	.long .Linfo_end-.Linfo-4
	.short 4
	.long .Labbrev
	.byte 8
	.uleb128 1
	.string "overlap.c"
	.long .Lline
	.quad outer, .Lend-outer
.La:	.uleb128 3
	.string "a"
	.byte 1
.Lb:	.uleb128 3
	.string "b"
	.byte 1
.Lc:	.uleb128 3
	.string "c"
	.byte 1
.Ld:	.uleb128 3
	.string "d"
	.byte 1
.Le:	.uleb128 3
	.string "e"
	.byte 1
	.uleb128 2
	.string "outer"
	.quad outer, .Lend-outer
	# a block without functions, and a smaller one at some of its addresses
	.uleb128 4
	.quad .L4, .L12-.L4
	.byte 0
	.uleb128 4
	.quad .L6, .L10-.L6
	inlined .L6, .L10, .La, 11
	.byte 0
	# a block with an empty list of ranges
	.uleb128 6
	.long .Lranges
	inlined .L10, .L14, .Lb, 12
	.byte 0
	# of the same size: the last
	inlined .L14, .L16, .Lb, 13
	inlined .L14, .L16, .Lc, 13
	# the smaller one first
	inlined .L16, .L18, .Ld, 14
	inlined .L16, .L24, .Le, 15
	.byte 0, 0
.Linfo_end:
	.section .debug_ranges, "", @progbits
.Lranges:
	.quad 0, 0
	.section .debug_line, "", @progbits
.Lline:
	.section .note.GNU-stack, "", @progbits
