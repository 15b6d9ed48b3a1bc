module example.org/incompatible

go 1.19

require (
	example.com/big v3.0.0+incompatible
	example.com/log v1.2.0
)

require example.com/text v0.3.0 // indirect
