/* leaf.S - functions in assembly, with unwind tables as a good one has them:
 * one without a frame, one that uses the frame pointer for something else, one
 * with a frame. */
	.text
#if defined(__x86_64__)
	.globl leaf_plain
	.type leaf_plain, @function
leaf_plain:
	.cfi_startproc
	xor %eax, %eax
1:	add %rdi, %rax
	rol $5, %rax
	dec %rdi
	jnz 1b
	ret
	.cfi_endproc
	.size leaf_plain, . - leaf_plain

	.globl leaf_saves
	.type leaf_saves, @function
leaf_saves:
	.cfi_startproc
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	xor %eax, %eax
	mov $12345, %ebp
2:	add %rbp, %rax
	rol $3, %rbp
	xor %rdi, %rbp
	dec %rdi
	jnz 2b
	pop %rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size leaf_saves, . - leaf_saves

	.globl leaf_frame
	.type leaf_frame, @function
leaf_frame:
	.cfi_startproc
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	xor %eax, %eax
3:	add %rdi, %rax
	rol $7, %rax
	dec %rdi
	jnz 3b
	pop %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size leaf_frame, . - leaf_frame
#else
#error "written for x86-64"
#endif
	.section .note.GNU-stack, "", @progbits
