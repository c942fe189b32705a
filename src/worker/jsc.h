/*
 * What the engine exports beyond its public headers, declared here.
 *
 * Runs in: zygote and worker. The C functions are linked directly: a library without them does not
 * load. The C++ ones are looked up at warm time (text.c, host.c) and have a fallback or a refusal.
 */
#ifndef CS_WORKER_JSC_H
#define CS_WORKER_JSC_H

#include <JavaScriptCore/JavaScript.h>
#include <stdbool.h>

/* Holding the lock over several calls delays the microtasks until the last unlock. */
void JSLock(JSContextRef ctx);
void JSUnlock(JSContextRef ctx);

void JSSynchronousGarbageCollectForDebugging(JSContextRef ctx);
JSObjectRef JSGetMemoryUsageStatistics(JSContextRef ctx);
JSStringRef JSStringCreateWithCharactersNoCopy(const JSChar *chars, size_t len);
JSObjectRef JSObjectGetProxyTarget(JSObjectRef object);
void JSGlobalContextSetUnhandledRejectionCallback(JSGlobalContextRef ctx, JSObjectRef function,
                                                  JSValueRef *exception);
/* eval, Function and its likes; where they are off they throw an EvalError that says `message`. */
void JSGlobalContextSetEvalEnabled(JSGlobalContextRef ctx, bool enabled, JSStringRef message);

#endif
