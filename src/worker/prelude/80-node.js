(function (rt, host) { 'use strict'; rt.isURL ??= () => false; rt.asBuffer ??= (b) => b; })
