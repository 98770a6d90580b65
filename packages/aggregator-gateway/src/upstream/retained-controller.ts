// undici makes a controller for each request, by a class that it does not export. One blank object retains the hidden
// class. See endpoint/retained-classes.ts.

import type { Dispatcher } from 'undici'

type Controller = new (abort: () => void) => unknown

let retained: unknown

/** Retains a blank controller of the same class. */
export function retainClassOf(controller: Dispatcher.DispatchController): void {
  retained ??= new (controller.constructor as Controller)(nothing)
}

export function retainedController(): unknown {
  return retained
}

function nothing(): void {}
