module example.org/tests/v3

go 1.19

require (
	example.com/check v0.0.0-20220101000000-0123456789ab
	example.com/text v0.4.1
)

require example.com/old v1.0.0 // indirect
