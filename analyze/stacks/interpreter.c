/* interpreter.c - the rules that decide which frames are an interpreter's own.
 *
 * Functions that run code of the language, or call between it and C, are the
 * interpreter's own. Work of a library for the program (sorting, reading, a
 * regular expression) is not, because users want to see it. */
#include "analyze/stacks/interpreter.h"

#include <fnmatch.h>

#include "stitch/base/mem.h"
#include "stitch/files/path.h"

const char *const interpreter_words[] = { "keep", "mark", "collapse", NULL };

enum {
	PYTHON = 1,
	NODE,
	PERL,
	RUBY,
	LUA,
	JVM,
};

static const struct {
	const char *label;
	const char *image[4]; /* globs of file names */
} languages[] = {
	[PYTHON] = { "[interpreter: python]",
		     { "python[0-9]*", "libpython*", "python" } },
	[NODE] = { "[interpreter: node]", { "node", "nodejs", "libnode.so*" } },
	[PERL] = { "[interpreter: perl]", { "perl", "perl5*", "libperl.so*" } },
	[RUBY] = { "[interpreter: ruby]",
		   { "ruby", "ruby[0-9]*", "libruby*" } },
	[LUA] = { "[interpreter: lua]",
		  { "lua", "lua5*", "liblua*", "luajit*" } },
	[JVM] = { "[interpreter: jvm]", { "libjvm.so", "libjli.so", "java" } },
};

struct rule {
	uint8_t language;
	bool jit; /* for jitted code, not the interpreter's files */
	uint8_t kind;
	const char *name; /* glob */
};

#define OWN INTERPRETER_OWN
#define CODE INTERPRETER_CODE

/* The first rule that matches is used. */
static const struct rule rules[] = {
	{ PYTHON, true, CODE, "py::*" },
	{ PYTHON, false, OWN, "_PyEval_*" },
	{ PYTHON, false, OWN, "PyEval_*" },
	{ PYTHON, false, OWN, "_PyFunction_Vectorcall*" },
	{ PYTHON, false, OWN, "*PyObject_Vectorcall*" },
	{ PYTHON, false, OWN, "*PyObject_Call*" },
	{ PYTHON, false, OWN, "*PyObject_MakeTpCall*" },
	{ PYTHON, false, OWN, "_PyVectorcall_*" },
	{ PYTHON, false, OWN, "PyVectorcall_*" },
	{ PYTHON, false, OWN, "object_vacall*" },
	{ PYTHON, false, OWN, "method_vectorcall*" },
	{ PYTHON, false, OWN, "cfunction_vectorcall*" },
	{ PYTHON, false, OWN, "cfunction_call*" },
	{ PYTHON, false, OWN, "vectorcall_*" },
	{ PYTHON, false, OWN, "slot_tp_*" },
	{ PYTHON, false, OWN, "type_call" },
	{ PYTHON, false, OWN, "py_trampoline_evaluator*" },
	{ PYTHON, false, OWN, "builtin_exec*" },
	{ PYTHON, false, OWN, "run_mod*" },
	{ PYTHON, false, OWN, "run_eval_code_obj*" },
	{ PYTHON, false, OWN, "*PyRun_*" },
	{ PYTHON, false, OWN, "pyrun_*" },
	{ PYTHON, false, OWN, "pymain_*" },
	{ PYTHON, false, OWN, "Py_RunMain" },
	{ PYTHON, false, OWN, "Py_BytesMain" },

	{ NODE, true, CODE, "JS:*" },
	{ NODE, true, CODE, "LazyCompile:*" },
	{ NODE, true, CODE, "Function:*" },
	{ NODE, true, CODE, "Script:*" },
	{ NODE, true, CODE, "Eval:*" },
	{ NODE, true, CODE, "RegExp:*" },
	{ NODE, true, OWN, "Builtin:*" },
	{ NODE, true, OWN, "BytecodeHandler:*" },
	{ NODE, true, OWN, "Stub:*" },
	{ NODE, false, OWN, "Builtins_JSEntry*" },
	{ NODE, false, OWN, "Builtins_Interpreter*" },
	{ NODE, false, OWN, "Builtins_*Handler" },
	{ NODE, false, OWN, "Builtins_Call*" },
	{ NODE, false, OWN, "Builtins_CEntry*" },
	{ NODE, false, OWN, "v8::internal::Execution::*" },
	{ NODE, false, OWN, "v8::internal::*Invoke*" },
	{ NODE, false, OWN, "v8::Function::Call*" },

	{ PERL, false, OWN, "Perl_runops_*" },
	{ PERL, false, INTERPRETER_NONE, "Perl_pp_*write" },
	{ PERL, false, OWN, "Perl_pp_enter*" }, /* sub, try, eval, loop */
	{ PERL, false, OWN, "Perl_pp_leave*" },
	{ PERL, false, OWN, "Perl_pp_nextstate" },
	{ PERL, false, OWN, "Perl_pp_unstack" },
	{ PERL, false, OWN, "Perl_pp_iter" },
	{ PERL, false, OWN, "Perl_call_*" },
	{ PERL, false, OWN, "perl_run" },
	{ PERL, false, OWN, "S_run_body*" },
	{ PERL, false, OWN, "S_docatch*" },
	{ PERL, false, OWN, "*_sortcv*" }, /* a block of sort */

	/* YJIT and RJIT: "Class#method (file.rb:line)" */
	{ RUBY, true, CODE, "*.rb:[0-9]*" },
	{ RUBY, false, OWN, "vm_*" },
	{ RUBY, false, OWN, "rb_vm_*" },
	{ RUBY, false, OWN, "rb_ec_exec*" },
	{ RUBY, false, OWN, "rb_yield*" },
	{ RUBY, false, OWN, "rb_block_call*" },
	{ RUBY, false, OWN, "rb_iterate*" },
	{ RUBY, false, OWN, "rb_ensure" },
	{ RUBY, false, OWN, "rb_rescue*" },
	{ RUBY, false, OWN, "rb_protect" },
	{ RUBY, false, OWN, "rb_catch*" },
	{ RUBY, false, OWN, "rb_call*" },
	{ RUBY, false, OWN, "rb_funcall*" },
	{ RUBY, false, OWN, "invoke_block*" },
	{ RUBY, false, OWN, "ruby_run_node" },
	{ RUBY, false, OWN, "ruby_exec_node" },

	{ LUA, true, CODE, "TRACE_*" },
	{ LUA, false, OWN, "luaV_*" },
	{ LUA, false, OWN, "luaD_*" },
	{ LUA, false, OWN, "lua_call*" },
	{ LUA, false, OWN, "lua_pcall*" },
	{ LUA, false, OWN, "lua_cpcall*" },
	{ LUA, false, OWN, "lua_resume*" },
	{ LUA, false, OWN, "lua_yield*" },
	{ LUA, false, OWN, "docall" },
	{ LUA, false, OWN, "pmain" },
	{ LUA, false, OWN, "lj_vm_*" },
	{ LUA, false, OWN, "lj_BC_*" },

	{ JVM, true, OWN, "Interpreter" },
	{ JVM, true, OWN, "call_stub" },
	{ JVM, true, OWN, "StubRoutines*" },
	{ JVM, true, OWN, "*I2C/C2I*" },
	{ JVM, true, OWN, "vtable chunks" },
	{ JVM, true, OWN, "RuntimeStub*" },
	{ JVM, true, OWN, "*Blob" },
	/* "Ljava/lang/String;::hashCode", "java.lang.String::hashCode" */
	{ JVM, true, CODE, "L*;::*" },
	{ JVM, true, CODE, "*.*::*" },
	{ JVM, false, OWN, "JavaCalls::*" },
	{ JVM, false, OWN, "jni_invoke_*" },
	{ JVM, false, OWN, "jni_Call*" },
	{ JVM, false, OWN, "os::os_exception_wrapper*" },
	{ JVM, false, OWN, "thread_native_entry*" },
	{ JVM, false, OWN, "JavaThread::*run*" },
	{ JVM, false, OWN, "Thread::call_run*" },
	{ JVM, false, OWN, "JavaMain" },
	{ JVM, false, OWN, "ThreadJavaMain" },
};

enum interpreter_mode interpreter_mode(const char *word)
{
	for (int i = 0; word && interpreter_words[i]; i++)
		if (!strcmp(word, interpreter_words[i]))
			return (enum interpreter_mode)i;
	return INTERPRETER_KEEP;
}

const char *interpreter_label(uint8_t language)
{
	return languages[language].label;
}

uint32_t interpreters_of(const char *path, bool jit)
{
	const char *base = path_base(path);
	uint32_t set = 0;

	if (jit)
		return UINT32_MAX;
	for (unsigned int i = 1; i < ARRAY_SIZE(languages); i++)
		for (size_t k = 0; k < ARRAY_SIZE(languages[i].image); k++)
			if (languages[i].image[k] &&
			    !fnmatch(languages[i].image[k], base, 0))
				set |= 1u << i;
	return set;
}

struct interpreter_frame interpreter_frame(uint32_t set, bool jit,
					   const char *name)
{
	for (size_t i = 0; set && i < ARRAY_SIZE(rules); i++)
		if (set >> rules[i].language & 1 && rules[i].jit == jit &&
		    !fnmatch(rules[i].name, name, 0))
			return (struct interpreter_frame){ rules[i].kind,
							   rules[i].language };
	return (struct interpreter_frame){ INTERPRETER_NONE, 0 };
}
