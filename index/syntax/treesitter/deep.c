// A call on a large stack of its own, for recursion that is as deep as a text.

#include "deep.h"

#ifdef _WIN32
#include <windows.h>

typedef struct {
  void (*f)(void *);
  void *argument;
} call;

static DWORD WINAPI run(void *argument) {
  call *c = argument;
  c->f(c->argument);
  return 0;
}

bool quarry_on_stack(size_t bytes, void (*f)(void *), void *argument) {
  call c = {f, argument};
  HANDLE thread = CreateThread(NULL, bytes, run, &c, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
  if (thread == NULL) {
    return false;
  }
  WaitForSingleObject(thread, INFINITE);
  CloseHandle(thread);
  return true;
}
#else
#include <pthread.h>
#include <signal.h>

typedef struct {
  void (*f)(void *);
  void *argument;
} call;

static void *run(void *argument) {
  call *c = argument;
  c->f(c->argument);
  return NULL;
}

bool quarry_on_stack(size_t bytes, void (*f)(void *), void *argument) {
  call c = {f, argument};
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t all, before;
  bytes = (bytes + 0xFFFF) & ~(size_t)0xFFFF; // some systems take whole pages only
  if (pthread_attr_init(&attributes) != 0) {
    return false;
  }
  sigfillset(&all); // they are for threads that Go knows
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool ok = pthread_attr_setstacksize(&attributes, bytes) == 0 && pthread_create(&thread, &attributes, run, &c) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return ok && pthread_join(thread, NULL) == 0;
}
#endif
