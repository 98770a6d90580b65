// The "hello world" of frameworks as their own documentation writes it. Only the port 3000 is replaced, by a free one.

/** A project of a reader who has followed the documentation of a framework. */
export interface HelloWorld {
  readonly name: string
  /** Where it is written. */
  readonly source: string
  /** Packages to install. */
  readonly packages: readonly string[]
  readonly files: Readonly<Record<string, string>>
  /** Commands after the installation. */
  readonly build?: string
  /** What `clustered-server` gets. */
  readonly start: string
  /** Body of the response to `GET /`. */
  readonly body: RegExp
  /** Path of a handshake, whose response has the id of a session for the request after it. */
  readonly handshake?: string
}

const esm = '{ "private": true, "type": "module" }'
const commonJs = '{ "private": true, "type": "commonjs" }'

const nest: Readonly<Record<string, string>> = {
  'package.json': '{ "private": true }',
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      module: 'nodenext',
      moduleResolution: 'nodenext',
      target: 'ES2023',
      esModuleInterop: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      skipLibCheck: true,
      strict: true,
      types: ['node'],
      rootDir: './src',
      outDir: './dist',
    },
    include: ['src'],
  }),
  'src/main.ts': `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000);
}
bootstrap();
`,
  'src/app.module.ts': `import { Module } from '@nestjs/common';
import { AppController } from './app.controller';
import { AppService } from './app.service';

@Module({
  imports: [],
  controllers: [AppController],
  providers: [AppService],
})
export class AppModule {}
`,
  'src/app.controller.ts': `import { Controller, Get } from '@nestjs/common';
import { AppService } from './app.service';

@Controller()
export class AppController {
  constructor(private readonly appService: AppService) {}

  @Get()
  getHello(): string {
    return this.appService.getHello();
  }
}
`,
  'src/app.service.ts': `import { Injectable } from '@nestjs/common';

@Injectable()
export class AppService {
  getHello(): string {
    return 'Hello World!';
  }
}
`,
}

const next: Readonly<Record<string, string>> = {
  'package.json': esm,
  'app/layout.js': `export default function RootLayout({ children }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  )
}
`,
  'app/page.js': `export default function Page() {
  return <h1>Hello, Next.js!</h1>
}
`,
  'server.js': `import { createServer } from 'http'
import next from 'next'

const port = parseInt(process.env.PORT || '3000', 10)
const dev = process.env.NODE_ENV !== 'production'
const app = next({ dev })
const handle = app.getRequestHandler()

app.prepare().then(() => {
  createServer((req, res) => {
    handle(req, res)
  }).listen(port)

  console.log(\`> Server listening at http://localhost:\${port} as \${dev ? 'development' : process.env.NODE_ENV}\`)
})
`,
}

export const helloWorlds: readonly HelloWorld[] = [
  {
    name: 'Fastify',
    source: 'https://fastify.dev/docs/latest/Guides/Getting-Started/',
    packages: ['fastify'],
    files: {
      'package.json': esm,
      'server.js': `import Fastify from 'fastify'

const fastify = Fastify({
  logger: true
})

fastify.get('/', function (request, reply) {
  reply.send({ hello: 'world' })
})

fastify.listen({ port: 3000 }, function (err, address) {
  if (err) {
    fastify.log.error(err)
    process.exit(1)
  }
})
`,
    },
    start: 'server.js',
    body: /^\{"hello":"world"\}$/,
  },
  {
    name: 'fastify-cli, its README',
    source: 'https://github.com/fastify/fastify-cli#readme',
    packages: ['fastify', 'fastify-cli'],
    files: {
      'package.json': commonJs,
      'plugin.js': `module.exports = async function (fastify, options) {
  fastify.get('/', async function (req, reply) {
    return { hello: 'world' }
  })
}
`,
    },
    start: 'plugin.js',
    body: /^\{"hello":"world"\}$/,
  },
  {
    name: 'fastify-cli, fastify generate',
    source: 'https://github.com/fastify/fastify-cli#generate',
    packages: ['fastify-cli'],
    files: { 'package.json': commonJs },
    build: 'npx fastify generate generated && npm install --prefix generated',
    start: 'generated/app.js',
    body: /^\{"root":true\}$/,
  },
  {
    name: 'Express',
    source: 'https://expressjs.com/en/starter/hello-world.html',
    packages: ['express'],
    files: {
      'package.json': commonJs,
      'app.js': `const express = require('express')
const app = express()
const port = 3000

app.get('/', (req, res) => {
  res.send('Hello World!')
})

app.listen(port, () => {
  console.log(\`Example app listening on port \${port}\`)
})
`,
    },
    start: 'app.js',
    body: /^Hello World!$/,
  },
  {
    name: 'Nest, bootstrap()',
    source: 'https://docs.nestjs.com/first-steps',
    packages: [
      '@nestjs/common',
      '@nestjs/core',
      '@nestjs/platform-express',
      'reflect-metadata',
      'rxjs',
      'typescript@6',
      '@types/node',
    ],
    files: nest,
    build: 'npx tsc',
    start: 'dist/main.js',
    body: /^Hello World!$/,
  },
  {
    name: 'Koa',
    source: 'https://koajs.com/#application',
    packages: ['koa'],
    files: {
      'package.json': commonJs,
      'app.js': `const Koa = require('koa');
const app = new Koa();

app.use(async ctx => {
  ctx.body = 'Hello World';
});

app.listen(3000);
`,
    },
    start: 'app.js',
    body: /^Hello World$/,
  },
  {
    name: 'Hono',
    source: 'https://hono.dev/docs/getting-started/nodejs',
    packages: ['hono', '@hono/node-server'],
    files: {
      'package.json': esm,
      'src/index.ts': `import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const app = new Hono()

app.get('/', (c) => {
  return c.text('Hello Hono!')
})

serve({
  fetch: app.fetch,
  port: 3000
}, (info) => {
  console.log(\`Server is running on http://localhost:\${info.port}\`)
})
`,
    },
    start: 'src/index.ts',
    body: /^Hello Hono!$/,
  },
  {
    name: 'Socket.IO',
    source: 'https://socket.io/docs/v4/tutorial/step-3',
    packages: ['express', 'socket.io'],
    files: {
      'package.json': commonJs,
      'index.html': '<!DOCTYPE html>\n<html><body><ul id="messages"></ul></body></html>\n',
      'index.js': `const express = require('express');
const { createServer } = require('node:http');
const { join } = require('node:path');
const { Server } = require('socket.io');

const app = express();
const server = createServer(app);
const io = new Server(server);

app.get('/', (req, res) => {
  res.sendFile(join(__dirname, 'index.html'));
});

io.on('connection', (socket) => {
  console.log('a user connected');
});

server.listen(3000, () => {
  console.log('server running at http://localhost:3000');
});
`,
    },
    start: 'index.js --sticky address',
    body: /<ul id="messages">/,
    handshake: '/socket.io/?EIO=4&transport=polling',
  },
  {
    name: 'Next, custom server',
    source: 'https://nextjs.org/docs/app/guides/custom-server',
    packages: ['next', 'react', 'react-dom'],
    files: next,
    build: 'npx next build',
    start: 'server.js',
    body: /Hello, Next\.js!/,
  },
]
