import { HttpModule, HttpService } from '@nestjs/axios'
import { Controller, Dependencies, Get, Module, Param } from '@nestjs/common'
import { firstValueFrom } from 'rxjs'

const upstream = process.env.UPSTREAM ?? 'http://127.0.0.1:3001'

class AppController {
  readonly #http: HttpService

  constructor(http: HttpService) {
    this.#http = http
  }

  async api(size: string): Promise<Record<string, unknown>> {
    const [profile, permissions, preferences, notifications, activity] = await Promise.all([
      this.#get('profile', size),
      this.#get('permissions', size),
      this.#get('preferences', size),
      this.#get('notifications', size),
      this.#get('activity', size),
    ])
    return { profile, permissions, preferences, notifications, activity }
  }

  async #get(part: string, size: string): Promise<unknown> {
    const url = `${upstream}/${part}/${encodeURIComponent(size)}`
    return (await firstValueFrom(this.#http.get<unknown>(url))).data
  }
}

/** The module that `nestjs-express-axios.ts` and `nestjs-fastify-axios.ts` both run. */
// oxlint-disable-next-line typescript/no-extraneous-class -- to Nest, a module is a class
export class AppModule {}

// Node strips types but does not know decorators: `@Get('api/:size')` above a method is this call.
Get('api/:size')(AppController.prototype, 'api', Object.getOwnPropertyDescriptor(AppController.prototype, 'api')!)
Param('size')(AppController.prototype, 'api', 0)
Controller()(AppController)
Dependencies(HttpService)(AppController)
Module({ imports: [HttpModule], controllers: [AppController] })(AppModule)
