// See kept-classes.ts. undici makes a controller for each request, by a class that it does not export.

import type { Dispatcher } from 'undici'

type Controller = new (abort: () => void) => unknown

let kept: unknown

/** Keeps a blank controller of the class of this one. */
export function keepClassOf(controller: Dispatcher.DispatchController): void {
  kept ??= new (controller.constructor as Controller)(nothing)
}

export function keptController(): unknown {
  return kept
}

function nothing(): void {}
