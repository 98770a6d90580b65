import { Controller, Get, Header, Module, Query } from '@nestjs/common'
import { order } from './order.ts'

class AppController {
  api(name = '', lastname = ''): string {
    return `${name} ${lastname}`
  }

  hello(): string {
    return 'Hello World!'
  }

  json(): typeof order {
    return order
  }
}

/** The module that `nestjs-express.ts` and `nestjs-fastify.ts` both run. */
// oxlint-disable-next-line typescript/no-extraneous-class -- to Nest, a module is a class
export class AppModule {}

// Node strips types but not decorators. `@Get('api')` above a method is this call.
function decorate(method: keyof AppController, ...decorators: MethodDecorator[]): void {
  const descriptor = Object.getOwnPropertyDescriptor(AppController.prototype, method)
  for (const decorator of decorators) decorator(AppController.prototype, method, descriptor!)
}

// Express would call a string text/html.
const text = Header('content-type', 'text/plain; charset=utf-8')

decorate('api', Get('api'), text)
Query('name')(AppController.prototype, 'api', 0)
Query('lastname')(AppController.prototype, 'api', 1)
decorate('hello', Get(), text)
decorate('json', Get('json'))
Controller()(AppController)
Module({ controllers: [AppController] })(AppModule)
