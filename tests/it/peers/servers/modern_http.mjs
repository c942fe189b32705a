// A server over HTTP written with the official SDK, newest protocol first.
//
//     node modern_http.mjs [reject|stateless] [auto|sse|json] [CERTIFICATE]
//
// With a certificate and key in one file it speaks TLS, and HTTP/2. Prints the address it listens on, then a line for each thing that a test may want to know.
import {readFileSync} from "node:fs"
import {createServer} from "node:http"
import {createSecureServer} from "node:http2"
import {McpServer, createMcpHandler, fromJsonSchema, inputRequired, acceptedContent} from "@modelcontextprotocol/server"

const [legacy = "reject", responseMode = "auto", pem] = process.argv.slice(2)
let extra = false

const text = value => ({content: [{type: "text", text: value}]})
const schema = properties => fromJsonSchema({type: "object", properties})

function factory() {
    const server = new McpServer({name: "modern-http", version: "1.0.0"}, {capabilities: {tools: {listChanged: true}}})
    server.registerTool("echo", {
        description: "Says it again.",
        inputSchema: schema({text: {type: "string"}, region: {type: "string", "x-mcp-header": "Region"}}),
    }, ({text: said, region}) => text(region ? `${said} from ${region}` : said))
    server.registerTool("count", {description: "Counts, and tells.", inputSchema: schema({to: {type: "integer"}})},
        async ({to}, ctx) => {
            for (let i = 1; i <= to; i++) {
                await ctx.mcpReq.notify({
                    method: "notifications/progress",
                    params: {progressToken: ctx.mcpReq._meta.progressToken, progress: i, total: to},
                })
                await new Promise(done => setTimeout(done, 20))
            }
            return text(`counted to ${to}`)
        })
    server.registerTool("wait", {description: "Never ends by itself.", inputSchema: schema({})}, (_, ctx) =>
        new Promise(done => ctx.mcpReq.signal.addEventListener("abort", () => {
            console.log("cancelled")
            done(text("too late"))
        })))
    server.registerTool("big", {description: "Many bytes.", inputSchema: schema({bytes: {type: "integer"}})},
        ({bytes}) => text("x".repeat(bytes)))
    server.registerTool("ask", {description: "Asks for a name.", inputSchema: schema({})}, (_, ctx) => {
        const given = acceptedContent(ctx.mcpReq.inputResponses, "name")
        return given ? text(`hello ${given.name}`) : inputRequired({
            inputRequests: {
                name: inputRequired.elicit({
                    message: "Who are you?",
                    requestedSchema: {type: "object", properties: {name: {type: "string"}}, required: ["name"]},
                }),
            },
        })
    })
    server.registerTool("grow", {description: "Adds a tool.", inputSchema: schema({})}, () => {
        extra = true
        handler.notify.toolsChanged()
        return text("grown")
    })
    if (extra)
        server.registerTool("extra", {description: "Was not there before.", inputSchema: schema({})}, () => text("extra"))
    return server
}

const handler = createMcpHandler(factory, {legacy, responseMode, onerror: e => console.log("error", e.message)})

let newest = "1.1"

async function serve(req, res) {
    if (req.httpVersion > newest)
        console.log("HTTP", newest = req.httpVersion)
    const chunks = []
    for await (const chunk of req)
        chunks.push(chunk)
    const gone = new AbortController()
    res.on("close", () => gone.abort())
    const request = new Request(`http://${req.headers.host ?? req.headers[":authority"]}${req.url}`, {
        method: req.method,
        headers: Object.entries(req.headers).filter(([name]) => name[0] !== ":"),
        body: chunks.length ? Buffer.concat(chunks) : undefined,
        signal: gone.signal,
    })
    const answer = await handler.fetch(request)
    res.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body)
        try {
            for await (const chunk of answer.body)
                res.write(chunk)
        } catch {
            // The client has gone.
        }
    res.end()
}

const identity = pem && {key: readFileSync(pem), cert: readFileSync(pem), allowHTTP1: true}
const server = pem ? createSecureServer(identity, serve) : createServer(serve)
server.listen(0, "127.0.0.1", () => console.log(`http${pem ? "s" : ""}://127.0.0.1:${server.address().port}/mcp`))
process.stdin.on("end", () => process.exit(0)).resume()
