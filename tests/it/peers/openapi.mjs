// Is it an OpenAPI document, and do answers fit what it says about them?
//
//     node openapi.mjs openapi.json < answers
//
// `answers` has one line of JSON each: {"schema": "Execution", "value": {...}}. Prints what is wrong, a
// line each; nothing if all is well.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Validator } from '@seriousme/openapi-schema-validator'
import Ajv2020 from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

const document = JSON.parse(readFileSync(process.argv[2], 'utf8'))

const validator = new Validator()
const verdict = await validator.validate(document)
if (!verdict.valid) console.log('the document: ' + JSON.stringify(verdict.errors))
else if (validator.version !== '3.1') console.log('it is of version ' + validator.version)

const ajv = new Ajv2020.default({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(document, 'openapi')
for await (const line of createInterface({ input: process.stdin })) {
    if (!line.trim()) continue
    const { schema, value } = JSON.parse(line)
    const check = ajv.compile({ $ref: `openapi#/components/schemas/${schema}` })
    if (!check(value)) console.log(`${schema}: ${ajv.errorsText(check.errors)}: ${JSON.stringify(value).slice(0, 300)}`)
}
